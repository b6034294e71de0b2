"""Files of consistency tuples: JSON lines, one check per file.

The format is that of the USAGE.md of https://github.com/dpaleka/consistency-forecasting.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.draft import (
    Draft,
    DraftForecast,
    kind_of,
    listed,
    one_line,
    read_probability,
    settle,
)
from coherently.conversion.sources import open_sources, parse_json
from coherently.conversion.tuples import (
    CHECKS,
    SYNONYMS,
    Question,
    Tuple,
    check_answers,
)
from coherently.errors import PanelError, counted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from coherently.conversion.sources import Source

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


@dataclass(slots=True)
class _Unknown:
    """Fields that are not in the format, counted over a file."""

    line: Counter[str] = field(default_factory=Counter)
    question: Counter[str] = field(default_factory=Counter)


def read_tuples(paths: Sequence[str | os.PathLike[str]]) -> tuple[list[Tuple], Draft]:
    """Read tuples from files of JSON lines, or folders of them; the draft has notes, and forecasts outside of tuples.

    The judge is the name of the file's folder. The check is the one in the file's name (NegChecker.jsonl) or, if there
    is none, the one whose roles the lines have.
    """
    sources = open_sources(paths, _is_wanted, "NegChecker.jsonl and so on, one per check")
    tuples: list[Tuple] = []
    draft = Draft()
    for source in sources:
        if source.file == GROUND_TRUTH:
            _read_ground_truth(source, draft)
        else:
            tuples += _read_file(source, draft)
    return tuples, draft


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
                raise PanelError(f"{source.name} line {number}: expected an object, found {kind_of(item)}")
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
            raise PanelError(f"{place}: 'line' must be an object of questions, found {kind_of(line)}")
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
        tuples.append(Tuple(source.folder, check, answers, f"{source.file}:{number}", questions={**base, **asked}))
    draft.note_unknown(source.name, "fields of a line", unknown.line)
    draft.note_unknown(source.name, "fields of a question", unknown.question)
    if silent:
        draft.notes.append(f"{source.name}: {counted(silent, 'tuple')} with an answer missing, left out")
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
    """The questions behind the roles, which are in the metadata of a line."""
    sentences = metadata.get("base_sentences") if isinstance(metadata, dict) else None
    if not isinstance(sentences, dict):
        return {}
    return {role: _read_question(entry, f"{place}, base sentence {role}") for role, entry in sentences.items()}


def _read_entry(entry: object, place: str, unknown: _Unknown) -> tuple[object, Question]:
    """Read an entry of either shape: {question, forecast: {prob}}, or a question with an elicited_prob."""
    if not isinstance(entry, dict):
        raise PanelError(f"{place}: expected an object with 'question' and 'forecast', found {kind_of(entry)}")
    unknown.question.update(set(entry) - QUESTION_FIELDS)
    if "elicited_prob" in entry:
        return entry["elicited_prob"], _read_question(entry, place)
    if "forecast" not in entry:
        remedy = "a file with only questions has no answers to read"
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
        raise PanelError(f"{place}: 'forecast' must be an object with 'prob', found {kind_of(forecast)}")
    return forecast["prob"], question


def _read_question(entry: object, place: str) -> Question:
    if not isinstance(entry, dict) or not isinstance(entry.get("title"), str):
        found = listed(entry) if isinstance(entry, dict) else kind_of(entry)
        raise PanelError(f"{place}: expected a question with a 'title', found {found or 'an empty object'}")
    body, resolution = entry.get("body"), entry.get("resolution")
    return Question(
        one_line(entry["title"]),
        one_line(body) if isinstance(body, str) else "",
        resolution if isinstance(resolution, bool) else None,
    )


def _read_ground_truth(source: Source, draft: Draft) -> None:
    """Read forecasts of single questions that have resolved."""
    unknown = _Unknown()
    resolutions: dict[str, set[bool]] = {}
    for place, _, item in _objects(source):
        answer, question = _read_entry(item, place, unknown)
        if answer is None:
            continue
        event = question.variable
        draft.forecasts.append(DraftForecast(source.folder, event, read_probability(answer, place)))
        draft.label(event, question.title)
        if question.resolution is not None:
            resolutions.setdefault(event, set()).add(question.resolution)
    settle(draft, resolutions)
