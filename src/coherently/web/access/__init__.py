"""Who is asking, and whether they may: the door, callers, sessions, tokens, rates."""
