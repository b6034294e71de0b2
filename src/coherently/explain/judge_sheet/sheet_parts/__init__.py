"""A sheet as it is understood: what hangs together, and linear programs and projections over that."""
