"""The pages of whoever leads a panel."""
