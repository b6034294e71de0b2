"""What fits together: answers in pieces that hang together, what they allow and contradict, and the least change."""
