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
