"""Live reading of drafts: what an event or a law means beside those of the sheet, or why it cannot be read."""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import CoherentlyError
from coherently.events import CERTAIN, NEVER, Events, find_conflict, find_world
from coherently.explain.fit.mixture_program import MixtureProgram
from coherently.explain.fit.read_sheets import pieces_of, read_sheet
from coherently.explain.fit.sheet_values import DraftReading, Item, SheetSetting
from coherently.panel.statements import PinStatement, Statement, read_pin, split_statements
from coherently.values import Told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.events import Fault
    from coherently.explain.fit.read_sheets import ReadSheet

LONGEST = 10_000
"""Maximum number of characters of a draft."""
ALIKE = 0.6
"""How much alike names are, by difflib, that may have been mixed up."""
SPELT = 0.75
"""How much alike a name is to another, by difflib, that may be a slip of it."""
MOST_KNOWN, MOST_LOOSE = 200, 20
"""Maximum number of names that others are compared with, and of names that may be slips."""
DIGITS = re.compile(r"[0-9]+")
NAME = re.compile(r"""'([^']+)'|"([^"]+)"|^(\S+)""")


def read_draft(setting: SheetSetting, text: str, kind: str = "event") -> DraftReading:
    """What a draft of an event or of a law means, or why it cannot be read.

    >>> from coherently.explain.judge_sheet import Item, SheetSetting
    >>> setting = SheetSetting((Item("e1", "rain & wind", "a storm", 7),))
    >>> read_draft(setting, "~(~wind | ~rain)").remarks
    ('Means the same as question 7.',)
    >>> read_draft(setting, "rain &").fault
    "expected an event after '&' (column 7)"
    """
    text = text.strip()
    if len(text) > LONGEST:
        return DraftReading(kind, fault=f"A draft may have at most {LONGEST:,} characters; this has {len(text):,}.")
    sheet = read_sheet(setting) or read_sheet(SheetSetting(setting.items))
    assert sheet is not None
    if kind == "law":
        return _law(setting, sheet, text)
    return _event(sheet, text)


def _event(sheet: ReadSheet, text: str) -> DraftReading:
    events = deepcopy(sheet.panel.events)
    known = _names(events)
    reading = events.add([text])
    if reading.faults:
        return _faulty("event", reading.faults[0], known)
    side, condition, rest = (int(one) for one in reading.sides[0])
    new = _new_names(events, known)
    suggestions = _suggestions(new, known)
    read = DraftReading(
        "event" if condition == CERTAIN else "conditional",
        about=", ".join(_used(events, (side, condition))),
        suggestions=suggestions,
        new_names=new,
    )
    same = [i for i in range(len(sheet.items)) if (sheet.event[i], sheet.condition[i]) == (side, condition)]
    turned = [i for i in range(len(sheet.items)) if (sheet.event[i], sheet.condition[i]) == (rest, condition)]
    remarks = []
    if same:
        read = replace(read, same_as=sheet.items[same[0]].question)
        remarks.append(f"Means the same as question {read.same_as}.")
    elif turned:
        read = replace(read, opposite_of=sheet.items[turned[0]].question)
        remarks.append(f"Is the opposite of question {read.opposite_of}.")
    remarks += _chances(events, sheet.panel.laws.side, side, condition, rest=rest)
    return replace(read, remarks=(*remarks, *_about_names(new, suggestions, known)))


def _chances(
    events: Events, laws: np.ndarray[tuple[int], np.dtype[np.int32]], side: int, condition: int, rest: int
) -> list[str]:
    """Whether an event is impossible or certain, by itself or by the laws."""
    given = "" if condition == CERTAIN else " if its condition holds"
    if condition != CERTAIN and find_world(events, np.append(laws, np.int32(condition))) is None:
        return ["The laws rule its condition out."]
    if side == NEVER:
        return [f"Can never come true{given}."]
    if rest == NEVER:
        return [f"Is always true{given}."]
    if find_world(events, np.append(laws, np.int32(side))) is None:
        return [f"Can never come true{given}, by the laws."]
    if find_world(events, np.append(laws, np.int32(rest))) is None:
        return [f"Is always true{given}, by the laws."]
    return []


def _law(setting: SheetSetting, sheet: ReadSheet, text: str) -> DraftReading:
    try:
        statements = split_statements([text])
    except CoherentlyError as error:
        return DraftReading("law", fault=str(error))
    if not statements:
        return DraftReading("law")
    statement = statements[0]
    if statement.is_declaration:
        return _declaration(sheet, statement.text)
    if statement.is_pin:
        return _pin(setting, sheet, statement)
    return _formula(sheet, statement.text)


def _declaration(sheet: ReadSheet, text: str) -> DraftReading:
    events = sheet.panel.events.fresh()
    before = set(events.declared)
    faults = events.declare([text])
    if faults:
        return _faulty("declaration", faults[0], sorted(before))
    new = [name for name in events.declared if name not in before]
    taken = [name for name in new if name in _plain_names(sheet.panel.events)]
    remarks = tuple(
        f"{name} is used as an event that comes true or not; a declared one needs another name." for name in taken
    )
    return DraftReading("declaration", about=", ".join(new), new_names=tuple(new), remarks=remarks)


def _pin(setting: SheetSetting, sheet: ReadSheet, statement: Statement) -> DraftReading:
    pin = read_pin(statement.text)
    if not isinstance(pin, PinStatement):
        return DraftReading("probability", fault=pin)
    read = _event(sheet, pin.event)
    if read.fault is not None:
        column = read.column and read.column + pin.offset
        fault = re.sub(r"\(column \d+\)", f"(column {column})", read.fault)
        return replace(read, kind="probability", column=column, fault=fault)
    kept = tuple(remark for remark in read.remarks if "is new here" in remark)
    read = replace(read, kind="probability", remarks=kept, same_as=None, opposite_of=None)
    item = Item("draft", pin.event, pin.event, 0)
    told = SheetSetting((item,), (*setting.laws, statement.text))
    if not _is_possible(told):
        return replace(read, fault="No probabilities fit this together with the other laws.")
    return read


def _is_possible(setting: SheetSetting) -> bool:
    """Whether some mixture of worlds keeps all laws about probabilities."""
    sheet = read_sheet(setting)
    if sheet is None:
        return False
    for piece in pieces_of(sheet, frozenset(range(len(sheet.items)))):
        nothing = np.full((1, len(piece)), np.nan)
        if piece.columns is not None and np.isinf(MixtureProgram(piece).misses(nothing, ~np.isnan(nothing[0]))[0]):
            return False
    return True


def _formula(sheet: ReadSheet, text: str) -> DraftReading:
    events, laws = deepcopy(sheet.panel.events), sheet.panel.laws
    known = _names(events)
    reading = events.add([text], max_characters=LONGEST)
    if reading.faults:
        return _faulty("law", reading.faults[0], known)
    side, condition, rest = (int(one) for one in reading.sides[0])
    if condition != CERTAIN:
        return DraftReading("law", fault="A law has no 'given': write a -> b, or P(a given b) = 0.9 for a probability.")
    new = _new_names(events, known)
    suggestions = _suggestions(new, known)
    read = DraftReading(
        "law", about=", ".join(_used(events, (side, condition))), suggestions=suggestions, new_names=new
    )
    sides = np.append(laws.side, np.int32(side))
    if (conflict := find_conflict(events, sides)) is not None:
        others = [f"“{laws.text[i]}”" for i in conflict if i < len(laws.side)]
        why = f"This contradicts {' and '.join(others)}." if others else "This can never be true."
        return replace(read, fault=why)
    remarks = list(_needless(events, laws.side, side, rest))
    if not remarks:
        remarks += _consequences(events, sheet, sides)
    return replace(read, remarks=(*remarks, *_about_names(new, suggestions, known)))


def needless_laws(setting: SheetSetting, texts: Sequence[str]) -> tuple[bool, ...]:
    """Of each law whether it holds anyway, by the logic of the events and the laws that are there.

    >>> from coherently.explain.judge_sheet import SheetSetting
    >>> needless_laws(SheetSetting((), ("a -> b", "b -> c")), ["a -> c", "c -> a", "not readable ("])
    (True, False, False)
    """
    sheet = read_sheet(setting)
    if sheet is None:
        return (False,) * len(texts)
    events, laws = deepcopy(sheet.panel.events), sheet.panel.laws.side
    found = []
    for text in texts:
        reading = events.add([text], max_characters=LONGEST)
        side, condition, rest = (int(one) for one in reading.sides[0])
        found.append(not reading.faults and condition == CERTAIN and bool(_needless(events, laws, side, rest)))
    return tuple(found)


def _needless(events: Events, laws: np.ndarray[tuple[int], np.dtype[np.int32]], side: int, rest: int) -> list[str]:
    if side == CERTAIN:
        return ["This is always true: you need no law for it."]
    if side in laws.tolist():
        return ["This law is there already."]
    if find_world(events, np.append(laws, np.int32(rest))) is None:
        return ["This follows from the other laws: you need no law for it."]
    return []


def _consequences(events: Events, sheet: ReadSheet, sides: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[str]:
    """What the laws, with a new one, settle."""
    found = []
    for item, event, condition in zip(sheet.items, sheet.event, sheet.condition, strict=True):
        number = item.question
        if find_world(events, np.append(sides, event)) is None:
            found.append(f"With this law, question {number} can never come true.")
        elif condition == CERTAIN and find_world(events, np.append(sides, event ^ np.int32(1))) is None:
            found.append(f"With this law, question {number} is sure to come true.")
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class LooseWord(Told):
    """A name that only one question uses, and no law; `near` is a name that is spelt alike, or None.

    `alone`: nothing else has to do with any name of that question.
    """

    name: str
    question: int
    near: str | None
    alone: bool

    def as_dict(self) -> dict[str, Any]:
        """The name in plain values."""
        return {"name": self.name, "question": self.question, "near": self.near, "alone": self.alone}


def loose_names(setting: SheetSetting) -> tuple[LooseWord, ...]:
    """Names that may be slips: of a question that has to do with no other, or spelt like one that others use.

    >>> from coherently.explain.judge_sheet import Item, SheetSetting
    >>> texts = ("rain & wind", "wind", "rian & wind", "frost")
    >>> found = loose_names(SheetSetting(tuple(Item(t, t, t, n) for n, t in enumerate(texts, 1))))
    >>> [(each.name, each.question, each.near, each.alone) for each in found]
    [('rian', 3, 'rain', False), ('frost', 4, None, True)]
    """
    sheet = read_sheet(setting)
    if sheet is None:
        return ()
    events, by_question = sheet.panel.events, _by_question(sheet)
    users: dict[str, set[int]] = {}
    for number, names in by_question.items():
        for name in names:
            users.setdefault(name, set()).add(number)
    lawful = set(_used(events, sheet.panel.laws.side.tolist())) if len(sheet.panel.laws.side) else set()
    loose = {name for name, numbers in users.items() if len(numbers) == 1 and name not in lawful}
    known = list(users)[:MOST_KNOWN]
    found = []
    for number, names in by_question.items():
        alone = len(by_question) > 1 and bool(names) and set(names) <= loose
        for name in [one for one in names if one in loose][:MOST_LOOSE]:
            # Of two names that are used once each, the later one is the slip.
            near = _slip(name, [one for one in known if one not in loose or min(users[one]) < number])
            if alone or near is not None:
                found.append(LooseWord(name, number, near, alone))
    return tuple(found[:MOST_LOOSE])


def _by_question(sheet: ReadSheet) -> dict[int, list[str]]:
    """The names that each question uses."""
    events = sheet.panel.events
    owner = {int(atom): choice.name for choice in events.choices() for atom in choice.atoms}
    names, found = events.variables, dict[int, list[str]]()
    for sides in (sheet.event, sheet.condition):
        starts, members = events.supports(sides // 2)
        for i, item in enumerate(sheet.items):
            own = (owner.get(v, names[v]) for v in members[starts[i] : starts[i + 1]].tolist())
            found[item.question] = list(dict.fromkeys([*found.get(item.question, []), *own]))
    return found


def _slip(name: str, known: Sequence[str]) -> str | None:
    """A name that is spelt alike; one that differs by a number alone is meant so."""
    bare = DIGITS.sub("", name)
    return _near(name, [one for one in known if DIGITS.sub("", one) != bare], SPELT)


def _faulty(kind: str, fault: Fault, known: Sequence[str]) -> DraftReading:
    """The parser's own sentence, with names that may have been meant."""
    sentence = str(fault).split("\n", 1)[0]
    named = NAME.search(fault.message) if fault.kind == "undeclared" else None
    name = next(filter(None, named.groups()), None) if named else None
    near = _near(name, known) if name else None
    remarks = (f"Did you mean {near}?",) if near else ()
    pairs = ((name, near),) if name and near else ()
    return DraftReading(kind, fault=sentence, column=fault.column, remarks=remarks, suggestions=pairs)


def _names(events: Events) -> list[str]:
    """The names of all variables, declared or not."""
    return [*_plain_names(events), *events.declared]


def _plain_names(events: Events) -> list[str]:
    """The names of variables that are true or false."""
    atoms = {int(atom) for choice in events.choices() for atom in choice.atoms}
    return [name for i, name in enumerate(events.variables) if i not in atoms]


def _used(events: Events, sides: Sequence[int]) -> list[str]:
    """The names of the user's variables that sides are about."""
    owner = {int(atom): choice.name for choice in events.choices() for atom in choice.atoms}
    _, members = events.supports(np.array(sides, np.int32) // 2)
    names = events.variables
    return list(dict.fromkeys(owner.get(v, names[v]) for v in members.tolist()))


def _new_names(events: Events, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in _plain_names(events) if name not in set(known))


def _suggestions(new: Sequence[str], known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, near) for name in new if (near := _near(name, known)) is not None)


def _near(name: str, known: Sequence[str], alike: float = ALIKE) -> str | None:
    others = [one for one in known if one != name]
    folded = {one.casefold(): one for one in others}
    found = get_close_matches(name.casefold(), list(folded), 1, alike)
    return folded[found[0]] if found else None


def _about_names(new: Sequence[str], pairs: Sequence[tuple[str, str]], known: Sequence[str]) -> list[str]:
    """Sentences on names that no question has yet."""
    near = dict(pairs)
    return [
        f"“{name}” is new here." + (f" Did you mean {near[name]}?" if name in near else "") for name in new if known
    ]
