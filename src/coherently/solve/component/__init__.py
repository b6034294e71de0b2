"""One connected component: an objective, the mixture of worlds that is best for it, and a proof."""
