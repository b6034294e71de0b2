"""Who uses the workbench: accounts, sessions of browsers, and tokens of programs."""
