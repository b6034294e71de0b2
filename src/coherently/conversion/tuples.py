"""Consistency tuples: a forecaster's answers to questions that are related by logic, and panels made of them.

The checks are those of Paleka, Pallavi Sudhir, Alvarez, Bhat, Shen, Wang and Tramèr (2025), Consistency Checks for
Language Model Forecasters, ICLR (arXiv:2412.18544).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from coherently.conversion.draft import Draft, DraftForecast, read_probability, settle
from coherently.errors import PanelError, counted

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
class Tuple:
    """A judge's answers to the roles of a check; `questions` has the questions, also of variables behind the roles."""

    judge: str
    check: str
    answers: Mapping[str, float]
    name: str = ""
    questions: Mapping[str, Question] = field(default_factory=dict)

    def events(self, names: Mapping[str, str]) -> list[str]:
        """The event of each answer, with these names of variables."""
        return [CHECKS[self.check][role].format_map(names) for role in self.answers]


def check_answers(check: str, answers: Mapping[str, object], place: str) -> dict[str, float]:
    """Give the answers in the order of the check's roles, or say what is wrong with them.

    >>> check_answers("Neg", {"not_P": 0.5, "P": 0.6}, "line 1")
    {'P': 0.6, 'not_P': 0.5}
    """
    if check not in CHECKS:
        raise PanelError(f"{place}: unknown check {check!r}; the checks are {', '.join(CHECKS)}")
    roles = CHECKS[check]
    named = {SYNONYMS.get(check, {}).get(role, role) if role not in roles else role: p for role, p in answers.items()}
    if set(named) != set(roles):
        raise PanelError(f"{place}: {check} has the roles {', '.join(roles)}; found {', '.join(answers) or 'none'}")
    return {role: read_probability(named[role], f"{place}, {role}") for role in roles}


def tuples_draft(tuples: Sequence[Tuple], draft: Draft | None = None) -> Draft:
    """Make a panel from tuples: one variable per question, laws for paraphrases and consequences.

    >>> answers = {"P": 0.6, "not_P": 0.5}
    >>> made = tuples_draft([Tuple("Ann", "Neg", answers), Tuple("Ann", "Neg", answers)])
    >>> [forecast.event for forecast in made.forecasts]
    ['p1', '~p1', 'p2', '~p2']
    """
    draft = Draft() if draft is None else draft
    resolutions: dict[str, set[bool]] = {}
    unused = 0
    laws: dict[str, None] = {}
    for number, asked in enumerate(tuples, 1):
        names = _names(asked, number, draft)
        events = asked.events(names)
        if asked.check in RELATIONS:
            role, law = RELATIONS[asked.check]
            other = asked.questions[role].variable if role in asked.questions else f"{names['P']}.other"
            events = [names["P"], other]
            if other != names["P"]:
                laws[law.format(P=names["P"], other=other)] = None
        for (role, probability), event in zip(asked.answers.items(), events, strict=True):
            draft.forecasts.append(DraftForecast(asked.judge, event, probability))
            question = asked.questions.get(role)
            if question is None:
                continue
            draft.label(event, question.title)
            if event == question.variable and question.resolution is not None:
                resolutions.setdefault(event, set()).add(question.resolution)
            unused += event != question.variable and question.resolution is not None
    draft.laws += laws
    settle(draft, resolutions)
    if unused:
        draft.notes.append(
            f"{counted(unused, 'resolution')} of compound questions not used: they follow from those of their parts"
        )
    return draft


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
