"""What a facilitator sees of all answers: disagreement, contradictions, what to ask next, and what needs no law."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coherently.errors import CoherentlyError
from coherently.events import CERTAIN, NEVER, find_world, tidy
from coherently.explain.fit.answer_sheet import conjunctions, on_sheet
from coherently.explain.fit.mixture_program import MixtureProgram
from coherently.explain.fit.nearest_answers import mended
from coherently.explain.fit.read_sheets import pieces_of, read_sheet
from coherently.explain.fit.sheet_values import Answered, Item, Overview, SheetSetting, Spread, Suggestion
from coherently.explain.fit.small_program import LOOSE
from coherently.explain.judge_sheet.attempts import Attempts, processor_budget
from coherently.explain.judge_sheet.live_feedback import clashes_of
from coherently.explain.people_sentences import number_word, opened, percent, phrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from numpy.typing import NDArray

    from coherently.explain.fit.read_sheets import ReadSheet

MOST_ASKED = 60
"""Maximum number of pairs of events that are looked at for the next question."""
KEPT_LOOKS, LONGEST_LOOK = 50, 16.0
"""How many looks at panels are kept, and the seconds of the processor of the last attempt at one."""
OPEN = 0.01
"""Minimum width of what is open for a question to be worth asking."""


@dataclass(frozen=True, slots=True)
class PanelLook:
    """All that is worked out of a panel for its facilitator."""

    overview: Overview
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def finished(self) -> bool:
        """Whether more time would find no more."""
        return self.overview.finished


@dataclass(frozen=True, slots=True)
class PanelAnswers:
    """The answers of a panel, by judge, as one value: who meant which contradictions, and what is not to be shown."""

    setting: SheetSetting
    answers: tuple[tuple[str, tuple[Answered, ...]], ...]
    meant: tuple[tuple[str, frozenset[str]], ...] = ()
    hidden: frozenset[str] = frozenset()

    def unfinished(self) -> PanelLook:
        """What is known of them before anybody has looked."""
        by_judge = dict(self.answers)
        given = tuple(judge for judge, own in by_judge.items() if own)
        seen = Overview(spreads(self.setting, by_judge), unchecked=given, averages_checked=not given, finished=False)
        return PanelLook(seen)


_LOOKS = Attempts[PanelLook](KEPT_LOOKS, LONGEST_LOOK)


def look_at_panel(asked: PanelAnswers, seconds: float) -> PanelLook:
    """Contradictions, disagreement and what to ask next; what did not finish gets more time when it is asked again."""

    def find(limit: float) -> PanelLook:
        answers = dict(asked.answers)
        shown = {judge: [each for each in own if each.event not in asked.hidden] for judge, own in asked.answers}
        return PanelLook(overview(asked.setting, answers, dict(asked.meant), limit), ask_next(asked.setting, shown))

    return _LOOKS.get(asked, seconds, find)


def overview(
    setting: SheetSetting,
    answers: Mapping[str, Sequence[Answered]],
    meant_by: Mapping[str, Set[str]] | None = None,
    time_limit: float = 2.0,
) -> Overview:
    """Disagreement on each event, and contradictions by judge and of the averages."""
    budget = processor_budget(time_limit)
    meant = meant_by or {}
    means = clashes_of(setting, averages(setting, answers), frozenset(), budget)
    found = {judge: clashes_of(setting, own, meant.get(judge, frozenset()), budget) for judge, own in answers.items()}
    return Overview(
        spreads=spreads(setting, answers),
        contradictions={judge: told.clashes for judge, told in found.items() if told.clashes},
        of_averages=means.clashes,
        unchecked=tuple(judge for judge, told in found.items() if not told.checked),
        averages_checked=means.checked,
        finished=means.finished and all(told.finished for told in found.values()),
    )


def spreads(setting: SheetSetting, answers: Mapping[str, Sequence[Answered]]) -> tuple[Spread, ...]:
    """The spread of the answers on each event."""
    given = _given(answers)
    return tuple(_spread(item.id, given.get(item.id, [])) for item in setting.items)


def _spread(event: str, values: list[float]) -> Spread:
    if not values:
        return Spread(event, 0)
    middle, mean = float(np.median(values)), float(np.mean(values))
    return Spread(
        event=event,
        count=len(values),
        low=min(values),
        median=middle,
        mean=mean,
        high=max(values),
        answers=tuple(sorted(values)),
    )


def _given(answers: Mapping[str, Sequence[Answered]]) -> dict[str, list[float]]:
    """The last answers of all judges, by event."""
    found: dict[str, list[float]] = {}
    for own in answers.values():
        last = {answer.event: answer for answer in own}
        for answer in last.values():
            if answer.probability is not None and not answer.abstained:
                found.setdefault(answer.event, []).append(answer.probability)
    return found


def averages(setting: SheetSetting, answers: Mapping[str, Sequence[Answered]]) -> tuple[Answered, ...]:
    """The average answer on each event that somebody answered."""
    given = _given(answers)
    return tuple(Answered(item.id, float(np.mean(given[item.id]))) for item in setting.items if item.id in given)


def ask_next(
    setting: SheetSetting, answers: Mapping[str, Sequence[Answered]], count: int = 3, time_limit: float = 1.0
) -> tuple[Suggestion, ...]:
    """The pairs of events that nobody was asked about together with the widest bounds, by the averages made coherent.

    At most one is suggested for each pair of questions.
    """
    budget = processor_budget(time_limit)
    sheet = on_sheet(setting, averages(setting, answers))
    if sheet is None or not sheet.known.any():
        return ()
    value = sheet.value.copy()
    for piece in sheet.pieces():
        near = mended(sheet.sheet, piece.items, value[piece.items], ~np.isnan(value[piece.items]), budget=budget)
        value[piece.items] = np.nan if near is None else near
    pairs = _candidates(sheet.sheet, value)
    items = [Item(f"pair {n}", text, _title(sheet.sheet, pair), 0) for n, (_, pair, text) in enumerate(pairs)]
    longer = SheetSetting((*setting.items, *items), setting.laws)
    known, found = frozenset(np.flatnonzero(~np.isnan(value)).tolist()), list[Suggestion]()
    taken = set[tuple[int, ...]]()
    for item, (most, pair, _) in zip(items, pairs, strict=True):
        if budget.is_over() or (len(found) >= count and most <= found[count - 1].width):
            break
        questions = tuple(sorted(sheet.sheet.items[i].question for i in pair))
        one = _suggestion(longer, known, item, value) if questions not in taken else None
        if one is not None:
            taken.add(questions)
            found = sorted([*found, one], key=lambda each: -each.width)
    return tuple(found[:count])


def _candidates(sheet: ReadSheet, value: NDArray[np.float64]) -> list[tuple[float, tuple[int, int], str]]:
    """Pairs of answered events of different questions, those first that two averages alone leave most open."""
    joint = {side for side, _ in conjunctions(sheet)}
    single = [
        i
        for i in np.flatnonzero(~np.isnan(value) & ~sheet.conditional).tolist()
        if sheet.event[i] not in joint and sheet.event[i] not in (NEVER, CERTAIN)
    ]
    pairs = [(i, j) for i, j in combinations(single, 2) if sheet.items[i].question != sheet.items[j].question]
    open_ = [min(value[i], value[j]) - max(0.0, value[i] + value[j] - 1.0) for i, j in pairs]
    order = np.argsort(-np.array(open_), kind="stable").tolist() if pairs else []
    asked = set(sheet.event.tolist()) | {side ^ 1 for side in sheet.event.tolist()}
    found: list[tuple[float, tuple[int, int], str]] = []
    for n in order:
        i, j = pairs[n]
        text = _joined(sheet, i, j)
        if text is None or int(sheet.panel.events.find([text]).event[0]) in asked:
            continue
        both = np.concatenate([sheet.panel.laws.side, sheet.event[[i, j]]])
        if find_world(sheet.panel.events, both) is not None:
            found.append((float(open_[n]), (i, j), text))
        if len(found) == MOST_ASKED:
            break
    return found


def _joined(sheet: ReadSheet, i: int, j: int) -> str | None:
    """Two events together, as a formula that can be asked; None if it has too many variables, letters or levels."""
    try:
        text = tidy(f"({sheet.items[i].event}) & ({sheet.items[j].event})")
    except CoherentlyError:
        return None
    return None if sheet.panel.events.find([text]).faults else text


def _title(sheet: ReadSheet, pair: tuple[int, int]) -> str:
    first, second = (phrase(sheet.items[i]) for i in pair)
    return f"{first} and {second}"


def _suggestion(
    setting: SheetSetting, known: frozenset[int], item: Item, value: NDArray[np.float64]
) -> Suggestion | None:
    """What coherent averages leave open for an event, if it is worth asking."""
    sheet = read_sheet(setting)
    if sheet is None or item.id not in sheet.number:
        return None
    asked = sheet.number[item.id]
    piece = next(one for one in pieces_of(sheet, known | {asked}) if asked in one.items)
    if piece.columns is None:
        return None
    every = np.append(value, np.full(len(sheet.items) - len(value), np.nan))[piece.items]
    place = int(np.flatnonzero(piece.items == asked)[0])
    bounds = MixtureProgram(piece).bounds([place], every, ~np.isnan(every), LOOSE)[0]
    if bounds is None or bounds.high - bounds.low < OPEN:
        return None
    low, high = percent(bounds.low).split()[0], percent(bounds.high)
    return Suggestion(
        event=item.event,
        title=opened(item.title),
        low=bounds.low,
        high=bounds.high,
        sentence=f"{low} to {high} is open.",
    )


def follows(setting: SheetSetting) -> tuple[str, ...]:
    """Sentences on what follows from meanings and declarations already: no law is needed for these.

    >>> from coherently.explain.judge_sheet import Item, SheetSetting
    >>> follows(SheetSetting((Item("a", "p", "p", 1), Item("b", "q", "q", 2), Item("c", "p & q", "both", 3))))
    ('Question 3 is never likelier than 1 or 2.',)
    """
    sheet = read_sheet(SheetSetting(setting.items, tuple(law for law in setting.laws if _declares(law))))
    if sheet is None:
        return ()
    return tuple(dict.fromkeys([*_families(sheet), *_pairs(sheet), *_shares(sheet)]))


def _declares(law: str) -> bool:
    from coherently.panel.statements import Statement

    return Statement(law.strip(), "").is_declaration


def _families(sheet: ReadSheet) -> Iterator[str]:
    """Partitions and ladders."""
    by_question: dict[int, list[int]] = {}
    for i, item in enumerate(sheet.items):
        by_question.setdefault(item.question, []).append(i)
    for question, own in by_question.items():
        if len(own) < 2:
            continue
        side = sheet.event[own]
        if all(_never(sheet, a, b) for a, b in combinations(side.tolist(), 2)):
            whole = _never(sheet, *(side ^ 1).tolist())
            most = "make" if whole else "make at most"
            yield f"Question {question}: the {number_word(len(own))} options {most} {percent(1.0)}."
        elif all(_never(sheet, a, b ^ 1) for a, b in zip(side[:-1].tolist(), side[1:].tolist(), strict=True)):
            yield f"Question {question}: a later step is never less likely."
        elif all(_never(sheet, a ^ 1, b) for a, b in zip(side[:-1].tolist(), side[1:].tolist(), strict=True)):
            yield f"Question {question}: a later step is never likelier."


def rises(setting: SheetSetting, events: Sequence[str]) -> bool:
    """Whether each step of a ladder, by the ids of its events, is at least as likely as the one before.

    >>> from coherently.explain.judge_sheet import Item, SheetSetting
    >>> steps = tuple(Item(str(n), f"rate > {n}", f"above {n}", 1) for n in (2, 3))
    >>> rises(SheetSetting(steps, ("variable rate: number",)), ["2", "3"])
    False
    """
    sheet = read_sheet(setting)
    if sheet is None or any(event not in sheet.number for event in events):
        return True
    side = sheet.event[[sheet.number[event] for event in events]]
    return all(_never(sheet, a, b ^ 1) for a, b in zip(side[:-1].tolist(), side[1:].tolist(), strict=True))


def _never(sheet: ReadSheet, *sides: int) -> bool:
    return find_world(sheet.panel.events, np.array(sides, np.int32)) is None


def _related(sheet: ReadSheet) -> Iterator[tuple[int, list[int]]]:
    """Each plain item with those that it can imply: they share a variable, or one of the two is settled by itself."""
    plain, events = np.flatnonzero(~sheet.conditional), sheet.panel.events
    owner = {int(atom): choice.name for choice in events.choices() for atom in choice.atoms}
    starts, members = events.supports(sheet.event[plain] // 2)
    about = [
        {owner.get(v, v) for v in members[first:last].tolist()}
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    places: dict[object, list[int]] = {}
    for i, variables in zip(plain.tolist(), about, strict=True):
        for variable in variables or {None}:
            places.setdefault(variable, []).append(i)
    settled = places.get(None, [])
    for i, variables in zip(plain.tolist(), about, strict=True):
        near = {j for variable in variables for j in places[variable]}
        yield i, sorted(near | set(settled)) if variables else plain.tolist()


def _pairs(sheet: ReadSheet) -> Iterator[str]:
    """Events that imply others by their meaning, and equal ones."""
    for i, related in _related(sheet):
        above = []
        for j in related:
            one, other = sheet.items[i], sheet.items[j]
            if one.question == other.question:
                continue
            if sheet.event[i] == sheet.event[j]:
                if i < j:
                    yield f"Questions {one.question} and {other.question} mean the same."
            elif _never(sheet, int(sheet.event[i]), int(sheet.event[j]) ^ 1):
                above.append(other.question)
        if above:
            listed = " or ".join(str(question) for question in dict.fromkeys(above))
            yield f"Question {sheet.items[i].question} is never likelier than {listed}."


def _shares(sheet: ReadSheet) -> Iterator[str]:
    """Conditionals whose condition and conjunction are asked, too."""
    for i in np.flatnonzero(sheet.conditional).tolist():
        for j in np.flatnonzero(~sheet.conditional & (sheet.event == sheet.condition[i])).tolist():
            for k in np.flatnonzero(~sheet.conditional & (sheet.event == sheet.event[i])).tolist():
                one, condition, joint = (sheet.items[n].question for n in (i, j, k))
                yield f"Question {one} times question {condition} is question {joint}."
