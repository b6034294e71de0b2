"""Facts about an answer as values: each equals the words that people and JSON see, and no code parses these."""

from __future__ import annotations

from enum import StrEnum


class Worded(StrEnum):
    """A fact that equals its words, prints as them and is written to JSON as them."""

    def __repr__(self) -> str:
        return repr(self.value)


class Status(Worded):
    """How a method ended: a word, and a sentence with what to do."""

    AVERAGED = ("averaged", "Each event was averaged on its own; the averages may contradict each other.")
    OPTIMAL = ("optimal", "These are the nearest coherent forecasts, to within the tolerance, and that is proved.")
    TIME_LIMIT = (
        "time_limit",
        "The time limit came before the proof; the gap says how much nearer coherent forecasts might be. "
        "Raise it (--time-limit) for more.",
    )
    UNPROVED = (
        "unproved",
        "The answer is coherent, but the proof stopped before the time limit at what rounding, or its methods, allow; "
        "the gap says how much nearer coherent forecasts might be. More time does not help; a larger tolerance would "
        "do.",
    )
    CONVERGED = ("converged", "The method converged: every group of events is coherent.")
    SWEEP_LIMIT = (
        "sweep_limit",
        "The method stopped at its limit of sweeps; raise it (--sweeps) if the violation is too large.",
    )
    PASS_LIMIT = (
        "pass_limit",
        "The forecasts are coherent, but single flips would still improve them; raise the limit of passes.",
    )
    INTERRUPTED = ("interrupted", "The method was interrupted; this is where it stood.")

    sentence: str

    def __new__(cls, word: str, sentence: str) -> Status:
        """Make a member that equals its word."""
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member


class Coherence(Worded):
    """How far forecasts are coherent, the weakest first."""

    NONE = "none"
    LOCAL = "local"
    GLOBAL = "global"


class Route(Worded):
    """How the answer of a component was found."""

    ENUMERATION = "enumeration"
    JUNCTION_TREE = "junction tree"
    COLUMNS = "column generation"
    NEWTON = "Newton's method on worlds"
    WOLFE = "Wolfe's algorithm"
    DEMPSTER = "Dempster's rule"
    PROJECTIONS = "alternating projections"
    CLOSED_FORM = "closed form"
    LEVELS = "Newton's method on levels"


class Proof(Worded):
    """On what a lower bound rests."""

    NOTHING = "nothing"
    NOT_CONVEX = "nothing: the log-odds scale is not convex"
    TOO_LATE = "nothing: the time was over"
    TOO_LARGE = "nothing: too many events"
    ALL_WORLDS = "dynamic programming over all worlds"
    PAIRS = "relaxation to pairs of variables"
    ONLY_PAIRS = "relaxation to pairs of variables: the distance is at least this"
    CLUSTERS = "relaxation to clusters of variables"
    SEMIDEFINITE = "semidefinite bound with branch and bound"
    BRANCHES = "clusters of variables with branch and bound"
    PROGRAM = "mixed-integer programming (HiGHS)"  # only in results of version 0.1, which are still read
    LOGICAL_GROUPS = "groups logical"
    PAIR_GROUPS = "groups pairs"
    NOT_NEGATIVE = "no distance is below 0"


class Promise(Worded):
    """What a method promises for every panel, unless its `exceptions` list it."""

    IGNORES_ORDER = "neither the order of forecasts nor the names of variables change the answer"
    KEEPS_COHERENT = "coherent forecasts that judges agree on are the answer"
    TAKES_MORE = "conditional forecasts, intervals and pins are taken"
    ADDS_WEIGHTS = "a forecast of weight N counts as N forecasts of weight 1"
