"""What the documentation site does beyond Sphinx."""
