"""A field that sensors measure: kernel regression by messages between neighbours, alone, and in one place."""
