"""What a user can name: methods, each a frozen value with its options."""
