"""The database below the store: tables, connections, the one writer, and migrations."""
