"""Groups of events made coherent at the same time: a relaxation of the whole, and its proof."""
