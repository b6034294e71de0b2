"""Migrations, one module each, from the first schema; they run when a store is opened."""
