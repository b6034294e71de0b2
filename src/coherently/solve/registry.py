"""The methods by name: a new one needs its module and a line here."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from coherently.errors import MethodError, unknown_word
from coherently.solve.facts import Promise
from coherently.solve.methods.alternating_projections import AlternatingProjections
from coherently.solve.methods.annealing import Annealing
from coherently.solve.methods.auto import Auto
from coherently.solve.methods.evidence import DempsterShafer
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.lindley import Lindley
from coherently.solve.methods.pools import OPTIONS, Pool
from coherently.solve.methods.recipe import Recipe
from coherently.solve.solution import Method

METHODS: dict[str, tuple[type[Method], dict[str, str]]] = {
    "auto": (Auto, {}),
    "exact": (Exact, {}),
    "linear": (Pool, {"kind": "linear"}),
    "recipe": (Recipe, {}),
    "projections": (AlternatingProjections, {"correction": "none"}),
    "dykstra": (AlternatingProjections, {"correction": "dykstra"}),
    "annealing": (Annealing, {}),
    **{kind: (Pool, {"kind": kind}) for kind in OPTIONS},  # linear keeps its place above
    "dempster-shafer": (DempsterShafer, {}),
    "lindley": (Lindley, {}),
}
"""The methods by name: a class, and the options that the name stands for."""


def choose(method: str | Method, **options: object) -> Method:
    """Return the method that a name stands for, with options (None means the default)."""
    if isinstance(method, type):
        raise MethodError(f"method is the class {method.__name__}; make an object of it: {method.__name__}()")
    if isinstance(method, Method):
        return method
    if method not in METHODS:
        raise unknown_word("method", method, METHODS)
    kind, fixed = METHODS[method]
    given = {name: value for name, value in options.items() if value is not None}
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise MethodError(
            f"the method {method} has no option {unknown[0]}; {_who_has(unknown[0])}", code="unknown-option"
        )
    return kind(**fixed, **given)


def method_of(values: dict[str, Any]) -> Method:
    """The method of plain values: its word, and its options, some of which the word may stand for."""
    word = values["method"]
    implied = {"method", *METHODS[word][1]} if word in METHODS else {"method"}
    return choose(word, **{name: value for name, value in values.items() if name not in implied})


Recipe.method_of = staticmethod(method_of)


def _who_has(option: str) -> str:
    having = [word for word, (kind, _) in METHODS.items() if option in {field.name for field in fields(kind)}]  # type: ignore[arg-type]
    return f"{' and '.join(having)} {'have' if len(having) > 1 else 'has'} it" if having else "none has"


def promises_of(method: Method) -> frozenset[Promise]:
    """What a method promises for every panel: everything except its `exceptions`, if it has any."""
    return frozenset(Promise) - getattr(method, "exceptions", frozenset())


def with_trace(method: Method) -> Method:
    """The method with a trace of its sweeps, if it can keep one and that changes nothing else."""
    found: Method = method.traced() if hasattr(method, "traced") else method
    return found
