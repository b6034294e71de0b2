"""What is on the disk: the log and the snapshot."""
