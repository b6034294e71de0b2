"""The methods by name: a new one needs its module and a line here."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from coherently.errors import MethodError, unknown_word
from coherently.problem.pool_kinds import OPTIONS
from coherently.solve.facts import Promise
from coherently.solve.methods.alternating_projections import AlternatingProjections
from coherently.solve.methods.annealing import Annealing
from coherently.solve.methods.auto import Auto
from coherently.solve.methods.evidence import DempsterShafer
from coherently.solve.methods.exact import Exact
from coherently.solve.methods.lindley import Lindley
from coherently.solve.methods.pools import Pool
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
    """Return the method that a name stands for, or the method itself, with options (None means the default).

    An option that the method does not have, and the method that follows it has, is for that one.

    >>> choose("exact", time_limit=5).time_limit, choose(Recipe(), time_limit=5).then.time_limit
    (5, 5)
    """
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(method, type):
        raise MethodError(f"method is the class {method.__name__}; make an object of it: {method.__name__}()")
    if isinstance(method, Method):
        return _with(method, given, method.name)
    if method not in METHODS:
        raise unknown_word("method", method, METHODS)
    kind, fixed = METHODS[method]
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    made = kind(**fixed, **{name: value for name, value in given.items() if name in known})
    return _with(made, {name: value for name, value in given.items() if name not in known}, method)


def _with(method: Method, options: dict[str, object], word: str) -> Method:
    """The method with some options, its own or those of the method that follows it."""
    if not options:
        return method
    known = _options_of(method)
    own = {name: value for name, value in options.items() if name in known}
    others = {name: value for name, value in options.items() if name not in known}
    if others:
        then = getattr(method, "then", None)
        if then is None:
            first = next(iter(others))
            raise MethodError(f"the method {word} has no option {first}; {_who_has(first)}", code="unknown-option")
        own["then"] = _with(then, others, then.name)
    made: Method = replace(method, **own)  # type: ignore[type-var]
    return made


def takes(method: Method, option: str) -> bool:
    """Whether a method has an option, or the method that follows it has.

    >>> takes(Exact(), "time_limit"), takes(Recipe(), "time_limit"), takes(Recipe(then=None), "time_limit")
    (True, True, False)
    """
    if option in _options_of(method):
        return True
    then = getattr(method, "then", None)
    return then is not None and takes(then, option)


def needs_means_only(method: Method) -> bool:
    """Whether a method needs of the forecasts of an event only their mean and weight, under the Brier loss.

    A method says so by `from_means`; one that does not say it may need the single forecasts.

    >>> needs_means_only(Exact()), needs_means_only(Pool("linear")), needs_means_only(Pool("median"))
    (True, True, False)
    """
    return bool(getattr(method, "from_means", False))


def _options_of(method: object) -> set[str]:
    """The names of the options of a method; those of a user's own may be any object."""
    return {field.name for field in fields(method)} if is_dataclass(method) else set()


def method_of(values: dict[str, Any]) -> Method:
    """The method of plain values: its word, and its options, some of which the word may stand for."""
    word = values["method"]
    implied = {"method", *METHODS[word][1]} if word in METHODS else {"method"}
    return choose(word, **{name: value for name, value in values.items() if name not in implied})


Recipe.read_methods_by(method_of)


def _who_has(option: str) -> str:
    having = [word for word, (kind, _) in METHODS.items() if option in {field.name for field in fields(kind)}]  # type: ignore[arg-type]
    return f"{' and '.join(having)} {'have' if len(having) > 1 else 'has'} it" if having else "none has"


def promises_of(method: Method) -> frozenset[Promise]:
    """What a method promises for every panel: everything except its `exceptions`, if it has any."""
    return frozenset(Promise) - getattr(method, "exceptions", frozenset())
