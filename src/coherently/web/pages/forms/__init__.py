"""What forms of the pages send, as drafts of the workbench."""
