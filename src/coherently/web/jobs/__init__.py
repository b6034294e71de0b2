"""Work that takes long: worker processes, the table of jobs, limits of time and memory."""
