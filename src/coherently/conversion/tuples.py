"""Consistency tuples: a forecaster's answers to questions that are related by logic, and panels made of them.

The checks are those of Paleka, Pallavi Sudhir, Alvarez, Bhat, Shen, Wang and Tramèr (2025), Consistency Checks for
Language Model Forecasters, ICLR (arXiv:2412.18544).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import Draft, DraftForecast, read_probability, settle
from coherently.errors import PanelError, counted
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHECKS: Final = {
    "Neg": {"P": "{P}", "not_P": "~{P}"},
    "Paraphrase": {"P": "{P}", "para_P": "{P}"},
    "Consequence": {"P": "{P}", "cons_P": "{P} | {Q}"},
    "And": {"P": "{P}", "Q": "{Q}", "P_and_Q": "{P} & {Q}"},
    "Or": {"P": "{P}", "Q": "{Q}", "P_or_Q": "{P} | {Q}"},
    "AndOr": {"P": "{P}", "Q": "{Q}", "P_and_Q": "{P} & {Q}", "P_or_Q": "{P} | {Q}"},
    "But": {"P": "{P}", "Q_and_not_P": "{Q} & ~{P}", "P_or_Q": "{P} | {Q}"},
    "Cond": {"P": "{P}", "Q_given_P": "{Q} given {P}", "P_and_Q": "{P} & {Q}"},
    "CondCond": {
        "P": "{P}",
        "Q_given_P": "{Q} given {P}",
        "R_given_P_and_Q": "{R} given {P} & {Q}",
        "P_and_Q_and_R": "{P} & {Q} & {R}",
    },
    "ExpectedEvidence": {"P": "{P}", "Q": "{Q}", "P_given_Q": "{P} given {Q}", "P_given_not_Q": "{P} given ~{Q}"},
}
"""The roles of each check, as events. A consequence of P is written P | Q: whatever it is, it holds where P holds."""
LADDER: Final = "Ladder"
"""Events of which each implies the next; its roles are the numbers 1, 2, ..."""
PARTITION: Final = "Partition"
"""Events of which exactly one comes true; its roles are the numbers 1, 2, ..."""
CHECK_NAMES: Final = (*CHECKS, LADDER, PARTITION)
SYNONYMS: Final = {"Paraphrase": {"Q": "para_P"}, "Consequence": {"Q": "cons_P"}}
"""Other names of roles: these are in USAGE.md, those of `CHECKS` in the published files."""
RELATIONS: Final = {"Paraphrase": ("para_P", "{P} <-> {other}"), "Consequence": ("cons_P", "{P} -> {other}")}
"""Checks with two questions that are both variables in a panel, and the law that relates them."""
HIDDEN: Final = {
    ("But", "Q"): "P_or_Q",
    ("Cond", "Q"): "P_and_Q",
    ("CondCond", "Q"): "Q_given_P",
    ("CondCond", "R"): "P_and_Q_and_R",
}
"""Variables that have no answer of their own in the check, and the question whose text names them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was asked; `resolution` is None if it is not known."""

    title: str
    body: str = ""
    resolution: bool | None = None

    @property
    def variable(self) -> str:
        """A name that is the same for every question with the same text."""
        return "q" + hashlib.sha256(f"{self.title}\n{self.body}".encode()).hexdigest()[:10]


@dataclass(frozen=True, slots=True)
class Tuple(Viewed):
    """A judge's answers to the roles of a check; `questions` has the questions, also of variables behind the roles."""

    judge: str
    check: str
    answers: Mapping[str, float]
    name: str = ""
    questions: Mapping[str, Question] = field(default_factory=dict)

    def events(self, names: Mapping[str, str]) -> list[str]:
        """The event of each answer, with these names of variables."""
        return [CHECKS[self.check][role].format_map(names) for role in self.answers]

    def posed(self, number: int) -> tuple[list[str], list[str]]:
        """The event of each answer over variables that no tuple of another number has, and their laws.

        >>> Tuple("Ann", "Ladder", {"1": 0.5, "2": 0.4}).posed(7)
        (['v7_1', 'v7_2'], ['v7_1 -> v7_2'])
        """
        if self.check in CHECKS:
            return self.events({letter: f"{letter.lower()}{number}" for letter in "PQR"}), []
        events = [f"v{number}_{role}" for role in self.answers]
        if self.check == LADDER:
            return events, [f"{one} -> {other}" for one, other in pairwise(events)]
        return events, [f"exactly(1; {', '.join(events)})"]


def check_answers(check: str, answers: Mapping[str, object], place: str) -> dict[str, float]:
    """Give the answers in the order of the check's roles, or say what is wrong with them.

    >>> check_answers("Neg", {"not_P": 0.5, "P": 0.6}, "line 1")
    {'P': 0.6, 'not_P': 0.5}
    """
    if check not in CHECK_NAMES:
        raise PanelError(f"{place}: unknown check {check!r}; the checks are {', '.join(CHECK_NAMES)}")
    roles = CHECKS.get(check) or {str(number): "" for number in range(1, max(2, len(answers)) + 1)}
    named = {SYNONYMS.get(check, {}).get(role, role) if role not in roles else role: p for role, p in answers.items()}
    if set(named) != set(roles):
        raise PanelError(f"{place}: {check} has the roles {', '.join(roles)}; found {', '.join(answers) or 'none'}")
    return {role: read_probability(named[role], f"{place}, {role}") for role in roles}


@dataclass(frozen=True, slots=True)
class PosedTuples:
    """A panel made from tuples, and the number of the row that has each answer of each tuple."""

    draft: Draft
    rows: tuple[tuple[int, ...], ...]


def tuples_draft(tuples: Sequence[Tuple], draft: Draft | None = None) -> Draft:
    """Make a panel from tuples: one variable per question, laws for paraphrases and consequences.

    >>> answers = {"P": 0.6, "not_P": 0.5}
    >>> made = tuples_draft([Tuple("Ann", "Neg", answers), Tuple("Ann", "Neg", answers)])
    >>> [forecast.event for forecast in made.forecasts]
    ['p1', '~p1', 'p2', '~p2']
    """
    return posed_tuples(tuples, draft).draft


def posed_tuples(tuples: Sequence[Tuple], draft: Draft | None = None) -> PosedTuples:
    """The panel that `tuples_draft` makes, with the row of each answer.

    The same answer of a judge to the same question is one row, in however many tuples it stands: a number for a judge
    must not depend on how answers were bundled. Other answers to that question are rows of their own.
    """
    draft = Draft() if draft is None else draft
    resolutions: dict[str, set[bool]] = {}
    unused: dict[tuple[str, str], None] = {}
    laws: dict[str, None] = {}
    meanings: dict[str, dict[str, None]] = {}
    row_of = {(each.judge, each.event, each.probability): row for row, each in enumerate(draft.forecasts)}
    rows = []
    for number, asked in enumerate(tuples, 1):
        events, own = _in_a_panel(asked, number, draft)
        laws |= dict.fromkeys(own)
        places = []
        for (role, probability), event in zip(asked.answers.items(), events, strict=True):
            question = asked.questions.get(role)
            answer = (asked.judge, event if question is None else question.variable, probability)
            if answer not in row_of:
                row_of[answer] = len(draft.forecasts)
                draft.forecasts.append(DraftForecast(asked.judge, event, probability))
            places.append(row_of[answer])
            if question is None:
                continue
            draft.label(event, question.title)
            if " given " not in event:
                meanings.setdefault(question.variable, {})[event] = None
            if event == question.variable and question.resolution is not None:
                resolutions.setdefault(event, set()).add(question.resolution)
            if event != question.variable and question.resolution is not None:
                unused[asked.judge, question.variable] = None
        rows.append(tuple(places))
    laws |= {f"({one}) <-> ({other})": None for events in meanings.values() for one, other in pairwise(events)}
    draft.laws += laws
    settle(draft, resolutions)
    if unused:
        draft.notes.append(
            f"{counted(len(unused), 'resolution')} of compound questions not used: they follow from those of parts"
        )
    return PosedTuples(draft, tuple(rows))


def _in_a_panel(asked: Tuple, number: int, draft: Draft) -> tuple[list[str], list[str]]:
    """The events of a tuple's answers, with the variables of its questions, and the laws that relate them."""
    if asked.check not in CHECKS:
        events, laws = asked.posed(number)
        variables = [
            asked.questions[role].variable if role in asked.questions else event
            for role, event in zip(asked.answers, events, strict=True)
        ]
        return variables, [_renamed(law, dict(zip(events, variables, strict=True))) for law in laws]
    names = _names(asked, number, draft)
    if asked.check not in RELATIONS:
        return asked.events(names), []
    role, law = RELATIONS[asked.check]
    other = asked.questions[role].variable if role in asked.questions else f"{names['P']}.other"
    own = [law.format(P=names["P"], other=other)] if other != names["P"] else []
    return [names["P"], other], own


def _renamed(law: str, names: Mapping[str, str]) -> str:
    return re.sub(r"v\d+_\d+", lambda found: names[found[0]], law)


def counted_once(tuples: Sequence[Tuple]) -> list[Tuple]:
    """The tuples without those that repeat another one: judge, check, answers and questions are the same.

    >>> same = {"P": 0.6, "not_P": 0.5}
    >>> len(counted_once([Tuple("Ann", "Neg", same, "1"), Tuple("Ann", "Neg", same, "2"), Tuple("Bob", "Neg", same)]))
    2
    """
    kept = {(each.judge, each.check, *each.answers.items(), *each.questions.items()): each for each in reversed(tuples)}
    return list(reversed(kept.values()))


def _names(asked: Tuple, number: int, draft: Draft) -> dict[str, str]:
    """Name the variables of a tuple by its questions, or by its number where it has none."""
    names = {}
    for letter in "PQR":
        question = asked.questions.get(letter)
        hidden = asked.questions.get(HIDDEN.get((asked.check, letter), ""))
        if question is None and hidden is not None:
            question = Question(f"{letter} of: {hidden.title}", hidden.body)
        if question is not None:
            names[letter] = question.variable
            draft.label(question.variable, question.title)
        else:
            names[letter] = f"{letter.lower()}{number}"
    return names
