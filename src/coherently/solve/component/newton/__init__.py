"""Newton's method on mixtures of worlds, for every loss and every term."""
