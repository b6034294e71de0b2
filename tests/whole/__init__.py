"""The whole panel language at once, against an enumeration of worlds and a general convex solver."""
