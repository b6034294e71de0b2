"""Edits of every field of a record, which are found in the record itself: a new field cannot be forgotten."""

import copy
import re

WORDS = {
    "status": ("optimal", "averaged", "converged", "time_limit", "sweep_limit", "unproved"),
    "coherence": ("none", "local", "global"),
    "method": ("exact", "dykstra", "projections", "annealing", "linear", "power", "lindley", "dempster-shafer", "mine"),
    "loss": ("brier", "log", "spherical"),
    "groups": ("singletons", "logical", "pairs", "triples", "cliques", "global"),
    "conditionals": ("called_off", "linearised", "ratio"),
    "proof": ("nothing", "elimination", "clusters"),
    "route": ("enumeration", "elimination"),
    "panel_sha256": ("0" * 64,),
}
"""Words that some fields may have, tried besides nonsense."""


def places(value, path=()):
    """The path of every field and of every entry of a list, the whole record left out."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def name_of(path):
    """The name of the field at a path, such as components.proof, whatever the entry of the list."""
    return ".".join(key for key in path if isinstance(key, str))


def samples(record):
    """The last path of each name, a list and its entries apart."""
    return list({(name_of(path), isinstance(path[-1], str)): path for path in places(record)}.values())


def at(record, path):
    for key in path:
        record = record[key]
    return record


def other_values(value, name):
    """What may stand in the place of a value, by a word for each: small and large changes, and other types."""
    yield from ((f"of another type: {kind!r}", kind) for kind in ("text", 0.5, True, None, [], {}) if kind != value)
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, int):
        yield from (("one more", value + 1), ("much more", 100 * value + 7), ("negative", -1))
    elif isinstance(value, float):
        step = 1e-6 * max(1.0, abs(value))
        yield from (("a little more", value + step), ("a little less", value - step))
        yield from (("much more", 3 * value + 1), ("much less", value - 0.3))
    elif isinstance(value, str):
        yield "longer", f"{value}x"
        yield "empty", ""
        if set(value) <= {"0", "1"}:
            yield from (
                ("turned", "".join("10"[int(bit)] for bit in value)),
                ("one bit", "10"[value == "1"] + value[1:]),
            )
    elif isinstance(value, list) and value:
        yield from (("without the last", value[:-1]), ("the last twice", [*value, copy.deepcopy(value[-1])]))
    elif isinstance(value, dict):
        yield "with another field", {**value, "more": 1}
    if value is None or isinstance(value, str):
        yield from ((f"the word {word}", word) for word in WORDS.get(name.rpartition(".")[2], ()) if word != value)


def edits(record, paths=None):
    """Every edit of a record, one at a time: what was done, the name of the field, and the edited record."""
    yield "with another field", "", {**record, "more": None}
    for path in samples(record) if paths is None else paths:
        name = name_of(path)
        for what, value in other_values(at(record, path), name):
            edited = copy.deepcopy(record)
            at(edited, path[:-1])[path[-1]] = copy.deepcopy(value)
            yield f"{_place(path)} {what}", name, edited
        edited = copy.deepcopy(record)
        del at(edited, path[:-1])[path[-1]]
        yield f"{_place(path)} missing", name, edited


def is_named(name, unchecked_fields):
    """Whether a field, or what it is a part of, is among those that are named as unchecked."""
    return any(name == field or name.startswith(f"{field}.") for field in unchecked_fields)


def _place(path):
    return re.sub(r"\.(\d+)", r"[\1]", ".".join(map(str, path)))
