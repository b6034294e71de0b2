"""The possible worlds of some variables, and which events hold in them."""
