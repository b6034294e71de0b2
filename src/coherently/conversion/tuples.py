"""Consistency tuples: answers of a forecaster to questions that are related by logic, as JSON lines.

The format is that of Paleka, Pallavi Sudhir, Alvarez, Bhat, Shen, Wang and Tramèr (2025), Consistency Checks for
Language Model Forecasters, ICLR, as the USAGE.md of https://github.com/dpaleka/consistency-forecasting describes it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.draft import Draft, Forecast, listed, one_line, plural
from coherently.conversion.sources import open_sources, parse_json
from coherently.errors import PanelError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from coherently.conversion.sources import Source

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
"""The roles of each check, as events; a consequence of P is P | Q: whatever it is, it holds where P does."""
SYNONYMS: Final = {"Paraphrase": {"Q": "para_P"}, "Consequence": {"Q": "cons_P"}}
"""Other names of roles: USAGE.md has these, the published files have those of `CHECKS`."""
RELATIONS: Final = {"Paraphrase": ("para_P", "{P} <-> {other}"), "Consequence": ("cons_P", "{P} -> {other}")}
"""Checks of two questions of which each is a variable in a panel, and the law that relates them."""
HIDDEN: Final = {
    ("But", "Q"): "P_or_Q",
    ("Cond", "Q"): "P_and_Q",
    ("CondCond", "Q"): "Q_given_P",
    ("CondCond", "R"): "P_and_Q_and_R",
}
"""Variables that no answer of the check is about alone, and the question whose text stands for them."""
GROUND_TRUTH: Final = "ground_truth_results.jsonl"
QUESTION_FIELDS: Final = frozenset(
    {
        "id",
        "title",
        "body",
        "resolution_date",
        "question_type",
        "data_source",
        "created_date",
        "url",
        "metadata",
        "resolution",
        "created_at",
        "elicited_prob",
        "question",
        "forecast",
    }
)
LINE_FIELDS: Final = frozenset({"line", "violation_data", "violations", "checks", "metadata"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was put; `resolution` is None where it is not known."""

    title: str
    body: str = ""
    resolution: bool | None = None

    @property
    def variable(self) -> str:
        """A name that is the same wherever the same text is asked."""
        return "q" + hashlib.sha256(f"{self.title}\n{self.body}".encode()).hexdigest()[:10]


@dataclass(frozen=True, slots=True)
class Tuple:
    """A judge's answers to the roles of a check; `questions` has what was asked, also of variables behind the roles."""

    judge: str
    check: str
    answers: Mapping[str, float]
    name: str = ""
    questions: Mapping[str, Question] = field(default_factory=dict)

    def events(self, names: Mapping[str, str]) -> list[str]:
        """The event of each answer over variables of these names."""
        return [CHECKS[self.check][role].format_map(names) for role in self.answers]


@dataclass(slots=True)
class _Unknown:
    """Fields that the format does not have, counted over a file."""

    line: Counter[str] = field(default_factory=Counter)
    question: Counter[str] = field(default_factory=Counter)


def check_answers(check: str, answers: Mapping[str, object], place: str) -> dict[str, float]:
    """Give the answers in the order of the check's roles, or say what is wrong with them.

    >>> check_answers("Neg", {"not_P": 0.5, "P": 0.6}, "line 1")
    {'P': 0.6, 'not_P': 0.5}
    """
    if check not in CHECKS:
        raise PanelError(f"{place}: {check!r} is no check; the checks are {', '.join(CHECKS)}")
    roles = CHECKS[check]
    named = {SYNONYMS.get(check, {}).get(role, role) if role not in roles else role: p for role, p in answers.items()}
    if set(named) != set(roles):
        raise PanelError(f"{place}: {check} has the roles {', '.join(roles)}; found {', '.join(answers) or 'none'}")
    return {role: _probability(named[role], f"{place}, {role}") for role in roles}


def read_tuples(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Tuple], Draft]:
    """Read tuples from JSON lines, or folders of them; the draft has notes and the forecasts beside the tuples.

    The judge of a file is the name of the folder that it is in. A file is of the check that its name says
    (NegChecker.jsonl) or, failing that, of the one whose roles its lines have.
    """
    sources = open_sources(paths, _is_wanted, "NegChecker.jsonl and so on, one a check")
    tuples: list[Tuple] = []
    draft = Draft()
    for source in sources:
        if source.file == GROUND_TRUTH:
            _read_ground_truth(source, draft)
        else:
            tuples += _read_file(source, draft)
    return tuples, draft


def tuples_draft(tuples: Sequence[Tuple], draft: Draft | None = None) -> Draft:
    """Make a panel of tuples: a variable a question, laws for paraphrases and consequences.

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
            draft.forecasts.append(Forecast(asked.judge, event, probability))
            question = asked.questions.get(role)
            if question is None:
                continue
            draft.label(event, question.title)
            if event == question.variable and question.resolution is not None:
                resolutions.setdefault(event, set()).add(question.resolution)
            unused += event != question.variable and question.resolution is not None
    draft.laws += laws
    _settle(draft, resolutions, unused)
    return draft


def _settle(draft: Draft, resolutions: Mapping[str, set[bool]], unused: int) -> None:
    """Take the resolutions of single questions; those of compound ones follow by logic."""
    torn = [event for event, said in resolutions.items() if len(said) > 1]
    for event, said in resolutions.items():
        if len(said) == 1:
            draft.outcomes[event] = int(next(iter(said)))
    if torn:
        draft.notes.append(f"questions resolved both ways, left unresolved: {listed(torn)}")
    if unused:
        draft.notes.append(
            f"{plural(unused, 'resolution')} of compound questions not used: they follow from those of their parts"
        )


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


def _is_wanted(name: str) -> bool:
    return name == GROUND_TRUTH or _check_of(name) is not None


def _check_of(name: str) -> str | None:
    check = name.removesuffix(".jsonl").removesuffix("Checker")
    return check if name.endswith("Checker.jsonl") and check in CHECKS else None


def _objects(source: Source) -> list[tuple[str, int, dict[str, Any]]]:
    """The object of each line that is not blank, with its place and its number."""
    source.check("consistency")
    found = []
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.strip():
            item = parse_json(line, source.name, number)
            if not isinstance(item, dict):
                raise PanelError(f"{source.name} line {number}: expected an object, found {_kind(item)}")
            found.append((f"{source.name} line {number}", number, item))
    return found


def _read_file(source: Source, draft: Draft) -> list[Tuple]:
    tuples, silent = [], 0
    unknown = _Unknown()
    for place, number, item in _objects(source):
        if "line" not in item and not ("P" in item and isinstance(item["P"], dict)):
            raise source.refuse("consistency")
        line = item.get("line", item)
        if not isinstance(line, dict):
            raise PanelError(f"{place}: 'line' must be an object of questions, found {_kind(line)}")
        if "line" in item:
            unknown.line.update(set(item) - LINE_FIELDS)
        base = _base(line.get("metadata") or item.get("metadata"), place)
        roles = {role: entry for role, entry in line.items() if role != "metadata"}
        check = _check_of(source.file) or _by_roles(roles, place)
        parsed = {role: _read_entry(entry, f"{place}, {role}", unknown) for role, entry in roles.items()}
        if any(answer is None for answer, _ in parsed.values()):
            silent += 1
            continue
        answers = check_answers(check, {role: answer for role, (answer, _) in parsed.items()}, place)
        asked = {SYNONYMS.get(check, {}).get(role, role): question for role, (_, question) in parsed.items()}
        tuples.append(Tuple(source.folder, check, answers, f"{source.file}:{number}", {**base, **asked}))
    draft.note_unknown(source.name, "fields of a line", unknown.line)
    draft.note_unknown(source.name, "fields of a question", unknown.question)
    if silent:
        draft.notes.append(f"{source.name}: {plural(silent, 'tuple')} with an answer missing, left out")
    return tuples


def _by_roles(roles: Mapping[str, object], place: str) -> str:
    for check, expected in CHECKS.items():
        if set(roles) == set(expected):
            return check
    if set(roles) == {"P", "Q"}:
        remedy = "name the file ParaphraseChecker.jsonl or ConsequenceChecker.jsonl to say which check this is"
        raise PanelError(f"{place}: the roles P, Q may be a paraphrase or a consequence; {remedy}")
    raise PanelError(
        f"{place}: no check has the roles {', '.join(roles) or '(none)'}; the checks are {_roles_listed()}"
    )


def _roles_listed() -> str:
    return "; ".join(f"{check}: {', '.join(roles)}" for check, roles in CHECKS.items())


def _base(metadata: object, place: str) -> dict[str, Question]:
    """The questions behind the roles, which files of tuples have in their metadata."""
    sentences = metadata.get("base_sentences") if isinstance(metadata, dict) else None
    if not isinstance(sentences, dict):
        return {}
    return {role: _read_question(entry, f"{place}, base sentence {role}") for role, entry in sentences.items()}


def _read_entry(entry: object, place: str, unknown: _Unknown) -> tuple[object, Question]:
    """Take an entry of either shape apart: {question, forecast: {prob}}, or a question with an elicited_prob."""
    if not isinstance(entry, dict):
        raise PanelError(f"{place}: expected an object with 'question' and 'forecast', found {_kind(entry)}")
    unknown.question.update(set(entry) - QUESTION_FIELDS)
    if "elicited_prob" in entry:
        return entry["elicited_prob"], _read_question(entry, place)
    if "forecast" not in entry:
        remedy = "a file of questions alone has no answers to read"
        raise PanelError(
            f"{place}: expected 'forecast' or 'elicited_prob', found {listed(entry) or 'nothing'}; {remedy}"
        )
    question = _read_question(entry.get("question"), place)
    if isinstance(entry["question"], dict):
        unknown.question.update(set(entry["question"]) - QUESTION_FIELDS)
    forecast = entry["forecast"]
    if forecast is None:
        return None, question
    if not isinstance(forecast, dict) or "prob" not in forecast:
        raise PanelError(f"{place}: 'forecast' must be an object with 'prob', found {_kind(forecast)}")
    return forecast["prob"], question


def _read_question(entry: object, place: str) -> Question:
    if not isinstance(entry, dict) or not isinstance(entry.get("title"), str):
        found = listed(entry) if isinstance(entry, dict) else _kind(entry)
        raise PanelError(f"{place}: expected a question with a 'title', found {found or 'an empty object'}")
    body, resolution = entry.get("body"), entry.get("resolution")
    return Question(
        one_line(entry["title"]),
        one_line(body) if isinstance(body, str) else "",
        resolution if isinstance(resolution, bool) else None,
    )


def _read_ground_truth(source: Source, draft: Draft) -> None:
    """Forecasts of single questions that have resolved."""
    unknown = _Unknown()
    resolutions: dict[str, set[bool]] = {}
    for place, _, item in _objects(source):
        answer, question = _read_entry(item, place, unknown)
        if answer is None:
            continue
        event = question.variable
        draft.forecasts.append(Forecast(source.folder, event, _probability(answer, place)))
        draft.label(event, question.title)
        if question.resolution is not None:
            resolutions.setdefault(event, set()).add(question.resolution)
    _settle(draft, resolutions, 0)


def _probability(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise PanelError(f"{place}: expected a probability, found {_kind(value)}")
    if not 0.0 <= value <= 1.0:
        raise PanelError(f"{place}: the probability {value:g} is outside 0 to 1")
    return float(value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)
