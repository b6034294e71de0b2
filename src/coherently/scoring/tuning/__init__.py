"""Recipes learned from resolved events."""
