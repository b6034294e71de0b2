"""Groups of coordinates that are made coherent together: designs, and what conditionals, intervals and pins add."""
