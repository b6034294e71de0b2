"""What `make` does before there is anything to run: see to the machine, run steps, and try both on a plain Debian."""
