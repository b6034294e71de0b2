"""The kinds of pools, the ways to average the forecasts of one event, for the methods and for the verifier."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "log": ("clip",),
    "median": (),
    "trimmed": ("trim",),
    "extremised": ("exponent", "prior", "clip"),
    "shrunk": ("shrink", "prior", "clip"),
    "neyman-roughgarden": ("prior",),
    "normalised": (),
    "power": (),
    "shin": (),
}
"""The kinds of pools, and the options that each has."""

PLAIN_KINDS = tuple(kind for kind, options in OPTIONS.items() if "prior" not in options)
"""The kinds that assume nothing about events before they are asked about."""
POOL_WORDS = {
    "linear": ("Linear average", "the weighted mean of the judges' forecasts of each event"),
    "log": ("Log pool", "the mean log-odds of the judges' forecasts of each event"),
    "median": ("Median", "the weighted median of the judges' forecasts of each event"),
    "trimmed": ("Trimmed mean", "the weighted mean without the highest and lowest forecasts of each event"),
    "extremised": ("Extremised pool", "the log pool with its log-odds multiplied, by the root of 3"),
    "shrunk": ("Shrunk pool", "the log pool with one more forecast, of 1/2"),
    "neyman-roughgarden": ("Neyman-Roughgarden", "the linear average, moved away from 1/2 by the number of judges"),
    "normalised": ("Normalised average", "the linear average, divided by its sum over each partition"),
    "power": ("Power average", "the linear average, raised to the power with which each partition sums to 1"),
    "shin": ("Shin's average", "the linear average without a bookmaker's margin in each partition"),
}
"""The name of each kind in tables, and what it is."""


def pool_words(kind: str) -> tuple[str, str]:
    """The name of a kind in tables, and what it is.

    >>> pool_words("median")
    ('Median', "the weighted median of the judges' forecasts of each event")
    """
    return POOL_WORDS.get(kind, (f"Pool ({kind})", f"the judges' forecasts of each event by the pool {kind}"))
