"""Batches of forecast reports of Metaculus' forecasting-tools, made coherent.

The reports are known by their published fields: `question`, with `question_text` and `id_of_question`, and
`prediction`, a number for a binary question and `predicted_options` for one of several options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from coherently.errors import PanelError
from coherently.events import quote_name
from coherently.panel import Panel
from coherently.result import aggregate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOVED = 5e-5
"""A change of a probability below this is not told in the notes of a report."""


class ReportRow(NamedTuple):
    """A probability of a report: the number of the report, the option (None for binary), event and probability."""

    report: int
    option: int | None
    event: str
    probability: float


def coherent_reports(
    reports: Sequence[Any],
    *,
    laws: Sequence[str] = (),
    events: Mapping[Any, str] | None = None,
    time_limit: float = 10.0,
) -> list[Any]:
    """The same `reports` with the nearest coherent probabilities, as copies, in their order.

    A binary question is the variable `q` and its id, such as `q578`, or its text in quotes if it has no id; `events`
    gives formulas instead, by id or by text, so that a question may be "q578 & q601". The options of a question are
    values of one declared variable: `q578 = "Ann"`. `laws` say how questions are tied, in these words. Reports of
    the same question are combined, and all of them have its one probability. Other kinds of reports come back as
    they are. A report that moved says so in `other_notes`.
    """
    rows, declared = _rows(reports, events or {})
    if not rows:
        return list(reports)
    panel = Panel.from_records([("reports", row.event, row.probability) for row in rows], laws=[*declared, *laws])
    result = aggregate(panel, time_limit=time_limit)
    value: dict[int, dict[int | None, float]] = {}
    for row in rows:
        value.setdefault(row.report, {})[row.option] = result.probability(row.event)
    return [_changed(report, value[number]) if number in value else report for number, report in enumerate(reports)]


def _rows(reports: Sequence[Any], events: Mapping[Any, str]) -> tuple[list[ReportRow], list[str]]:
    """The probabilities of all reports, and the declarations of questions with options."""
    rows, declared = [], {}
    for number, report in enumerate(reports):
        try:
            name, prediction = _name(report.question, events), report.prediction
        except AttributeError as error:
            raise PanelError(
                f"item {number} of the batch is a {type(report).__name__} without {error.name}: pass reports of "
                "forecasting-tools",
                code="bad-report",
            ) from None
        options = getattr(prediction, "predicted_options", None)
        if options is not None:
            names = [quote_name(option.option_name) for option in options]
            declared[name] = f"variable {name}: {', '.join(names)}"
            events_of = [f"{name} = {each}" for each in names]
            pairs: Iterable[tuple[int | None, str, float]] = (
                (place, event, option.probability)
                for place, (event, option) in enumerate(zip(events_of, options, strict=True))
            )
        elif isinstance(prediction, int | float) and not isinstance(prediction, bool):
            pairs = [(None, name, float(prediction))]
        else:
            continue
        rows += [ReportRow(number, place, event, probability) for place, event, probability in pairs]
    return rows, list(declared.values())


def _name(question: Any, events: Mapping[Any, str]) -> str:
    """The event of a question: as it was given, by its id, or by its text."""
    text, number = " ".join(question.question_text.split()), question.id_of_question
    for key in (number, question.question_text, text):
        if key is not None and key in events:
            return events[key]
    return quote_name(text) if number is None else f"q{number}"


def _changed(report: Any, value: Mapping[int | None, float]) -> Any:
    """A copy of a report with other probabilities."""
    if None in value:
        before, after = float(report.prediction), value[None]
        moves = [f"{before:.4g} -> {after:.4g}"] if abs(after - before) > MOVED else []
        prediction: Any = after
    else:
        options = report.prediction.predicted_options
        moves = [
            f"{option.option_name}: {option.probability:.4g} -> {value[place]:.4g}"
            for place, option in enumerate(options)
            if abs(value[place] - option.probability) > MOVED
        ]
        made = [option.model_copy(update={"probability": value[place]}) for place, option in enumerate(options)]
        prediction = report.prediction.model_copy(update={"predicted_options": made})
    notes = f"Made coherent with the other questions of the batch: {'; '.join(moves)}." if moves else None
    told = " ".join(filter(None, [report.other_notes, notes])) or None
    return report.model_copy(update={"prediction": prediction, "other_notes": told})
