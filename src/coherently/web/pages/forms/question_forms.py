"""Questions as a facilitator writes them: one formula, options that share 100 per cent, or a ladder of steps."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from coherently.web.pages.forms.filled import fill
from coherently.web.pages.forms.typed_dates import one_day
from coherently.web.pages.forms.typed_numbers import one_number
from coherently.web.refusals import RefusedError
from coherently.web.shapes.panel_shapes import EventDraft, QuestionDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import date

PLAIN = re.compile(r"[^\W\d]\w*\Z")
"""A name that needs no quotes."""
RESERVED = frozenset(
    re.findall(r"\S+", "not and xor or implies iff given in true false exactly at_least at_most other variable")
)
"""Words that are not names unless they are in quotes."""
SMALL = frozenset(
    re.findall(
        r"\S+",
        "a an the is are be been was were will would has have had in of on at by to for and or than more less its it "
        "their there with from as that this these which who what when if do does",
    )
)
"""Words that say too little to be part of a name."""
NUMBER = re.compile(r"([-+\u2212]?[0-9](?:[0-9.,\u00a0\u202f\u2009 '\u2019_]*[0-9])?)\s*([^\d\s][^\d]{0,11})?\Z")
"""What may be a number, and maybe a unit."""
COMPARED = re.compile(r"([^\W\d]\w*)\s*[<>]=?\s*(-?[0-9][0-9.-]*)")
"""A name that is compared with a number or a date."""
OPEN = "..."
"""The line that says that something else may come true."""
FOUR = 4
"""Numbers of more digits than this are written with commas between their thousands."""
WORDS_OF_NAME = 3
"""How many words of a title make its name in formulas."""


class Step(NamedTuple):
    """One event of a question in the making."""

    event: str
    title: str


def quoted(name: str) -> str:
    r"""A name or a value as the event language takes it.

    >>> quoted("rain"), quoted("under 1.5 %"), quoted("given")
    ('rain', '"under 1.5 %"', '"given"')
    """
    if PLAIN.match(name) and name.lower() not in RESERVED:
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def name_of(title: str, taken: Collection[str] = ()) -> str:
    """A short name for a question in formulas, other than those that are taken.

    >>> name_of("The euro area is in recession in 2027"), name_of("Rain?", {"rain"}), name_of("2027?")
    ('euro_area_recession', 'rain_2', 'question_2027')
    """
    words = [word for word in re.findall(r"\w+", title.lower()) if word not in SMALL] or re.findall(
        r"\w+", title.lower()
    )
    name = "_".join(words[:WORDS_OF_NAME]) or "question"
    name = name if PLAIN.match(name) and name not in RESERVED else f"question_{name}"
    number = 2
    first = name
    while name in taken:
        name, number = f"{first}_{number}", number + 1
    return name


def read_question(form: Mapping[str, str], taken: Collection[str], declared: Collection[str] = ()) -> QuestionDraft:
    """The question that a form describes; `taken` are the names that formulas use already, `declared` variables."""
    kind, title = form.get("kind", "yes-no"), form.get("title", "").strip()
    common = {"title": title, "definition": form.get("definition", "").strip(), "group": form.get("group", "").strip()}
    if kind not in ("partition", "ladder"):
        event = form.get("event", "").strip() or name_of(title, taken)
        kind = "conditional" if re.search(r"\bgiven\b", event) else "yes-no"
        events = [fill(EventDraft, event=event, title=form.get("short", "").strip())]
        return fill(QuestionDraft, kind=kind, events=events, declaration=_compared(event, declared), **common)
    lines = [line.strip() for line in form.get("lines", "").splitlines() if line.strip()]
    variable = quoted(form.get("variable", "").strip() or name_of(title, taken))
    shape = form.get("shape", "")
    declared, steps = SHAPES[shape if shape in SHAPES else "named"](variable, lines)
    events = [fill(EventDraft, event=each.event, title=each.title) for each in steps]
    return fill(QuestionDraft, kind=kind, declaration=f"variable {variable}: {declared}", events=events, **common)


def _compared(event: str, declared: Collection[str]) -> str | None:
    """The declaration of a number or a date that a formula compares and nothing declares: the form makes it.

    >>> _compared("sales > 40000 & rain", ()), _compared("due <= 2027-03-31", ()), _compared("sales > 5", {"sales"})
    ('variable sales: number', 'variable due: date', None)
    """
    found = {name: value for name, value in COMPARED.findall(event) if name not in declared}
    if len(found) != 1:
        return None
    ((name, value),) = found.items()
    return f"variable {name}: {'date' if value.count('-') == 2 else 'number'}"


def _named(variable: str, lines: list[str]) -> tuple[str, list[Step]]:
    named = [line for line in lines if line != OPEN]
    if len(named) < 2 or len(set(named)) < len(named):
        raise too_few("options", "two or more different options, one on each line")
    steps = [Step(f"{variable} = {quoted(line)}", line) for line in named]
    values = ", ".join(map(quoted, named))
    if OPEN not in lines:
        return values, steps
    return f"{values}, ...", [*steps, Step(f"{variable} = other", "something else")]


def _ranges(variable: str, lines: list[str]) -> tuple[str, list[Step]]:
    cuts, unit = _numbers(lines)
    first, last = cuts[0], cuts[-1]
    between = [
        Step(f"{variable} >= {low} & {variable} < {high}", f"{readable(low)} to {readable(high)}{unit}")
        for low, high in pairwise(cuts)
    ]
    return "number", [
        Step(f"{variable} < {first}", f"under {readable(first)}{unit}"),
        *between,
        Step(f"{variable} >= {last}", f"{readable(last)}{unit} or more"),
    ]


def _dates(variable: str, lines: list[str]) -> tuple[str, list[Step]]:
    days = sorted({_day(line) for line in lines})
    if not days:
        raise too_few("steps", "one or more dates such as 2027-03-31, one on each line")
    several = len({day.year for day in days}) > 1
    return "date", [
        Step(f"{variable} <= {day.isoformat()}", f"by {day.day} {day:%B}{f' {day.year}' if several else ''}")
        for day in days
    ]


def _at_most(variable: str, lines: list[str]) -> tuple[str, list[Step]]:
    cuts, unit = _numbers(lines)
    return "number", [Step(f"{variable} <= {cut}", f"{readable(cut)}{unit} or less") for cut in cuts]


def _at_least(variable: str, lines: list[str]) -> tuple[str, list[Step]]:
    cuts, unit = _numbers(lines)
    return "number", [Step(f"{variable} >= {cut}", f"{readable(cut)}{unit} or more") for cut in cuts]


SHAPES: dict[str, Callable[[str, list[str]], tuple[str, list[Step]]]] = {
    "named": _named,
    "ranges": _ranges,
    "dates": _dates,
    "at-most": _at_most,
    "at-least": _at_least,
}
"""What a question of several events is about, by the word for it in the form."""


def readable(number: str) -> str:
    """A number with its thousands apart, so that everybody sees how it was read.

    >>> readable("40000"), readable("40000.5"), readable("2027"), readable("-1234567")
    ('40,000', '40,000.5', '2027', '-1,234,567')
    """
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}" if len(whole.lstrip("-")) > FOUR else number


def _numbers(lines: list[str]) -> tuple[list[str], str]:
    """The numbers in increasing order, and their unit with a no-break space before it."""
    found: dict[float, str] = {}
    unit = ""
    for line in lines:
        match = NUMBER.match(line)
        number = one_number(match[1]) if match is not None else None
        if match is None or number is None:
            raise RefusedError(
                422,
                "not-usable",
                f"“{line}” is not a number.",
                where="lines",
                allowed="a number such as 2.5, 40000 or 40 000",
            )
        found[float(number.text)] = number.text
        unit = unit or (match[2] or "").strip()
    if not found:
        raise too_few("numbers", "one or more numbers, one on each line")
    return [found[value] for value in sorted(found)], f"\u00a0{unit}" if unit else ""


def _day(line: str) -> date:
    found = one_day(line)
    if found is None:
        raise RefusedError(
            422,
            "not-usable",
            f"“{line}” is not a date.",
            where="lines",
            allowed="a date such as 2027-03-31, 31.3.2027 or 31 March 2027",
        )
    return found


def too_few(what: str, allowed: str) -> RefusedError:
    """The form has too few lines, or the same line twice."""
    return RefusedError(422, "not-usable", f"There are too few {what}.", where="lines", allowed=allowed)
