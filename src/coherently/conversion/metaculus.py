"""The Metaculus data download: question_data.csv and forecast_data.csv.

The columns are those of `utils/csv_utils.py` of https://github.com/Metaculus/metaculus, which writes the download and
the README.md in it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from coherently.conversion.download import (
    day_cell,
    list_cell,
    number_cell,
    probability_cell,
    read_table,
    rows_that_count,
)
from coherently.conversion.draft import Draft, DraftForecast, choice, declaration, listed, one_line
from coherently.conversion.label_groups import Grouping, declared, recognise
from coherently.errors import PanelError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coherently.conversion.download import ConversionOptions, DownloadRow
    from coherently.conversion.sources import Source

FILES: Final = ("question_data.csv", "forecast_data.csv")
QUESTION_NEEDS: Final = ("Question ID", "Question Title", "Post ID", "Question Type", "Resolution")
QUESTION_KNOWN: Final = frozenset(
    {
        *QUESTION_NEEDS,
        *("Question URL", "Post Curation Status", "Post Published Time", "Default Project", "Default Project ID"),
        *("Categories", "Leaderboard Tags", "Label", "MC Options", "MC Options (Current)", "MC Options (All)"),
        *("MC Options History", "Lower Bound", "Open Lower Bound", "Upper Bound", "Open Upper Bound"),
        *("Continuous Range", "Open Time", "CP Reveal Time", "Scheduled Close Time", "Actual Close Time"),
        *("Resolution Known Time", "Include Bots in Aggregates", "Question Weight"),
    }
)
CONTINUOUS: Final = ("numeric", "date", "discrete")
NO_ANSWER: Final = ("ambiguous", "annulled")


@dataclass(slots=True)
class _PostedQuestion:
    """A question, the events of its forecasts, and the places of their probabilities in a list of `length`."""

    id: str
    post: str
    kind: str
    title: str
    label: str
    resolution: str
    events: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    length: int = 0


def read_metaculus(sources: Sequence[Source], options: ConversionOptions) -> Draft:
    """Make a panel from a download: options become partitions, cumulative distributions thresholds of a quantity."""
    tables = [read_table(source) for source in sources]
    draft = Draft()
    asked = [table for table in tables if "Question Type" in table.rows[0]]
    given = [table for table in tables if "Continuous CDF" in table.rows[0]]
    for kind, found, column in (("question_data", asked, "Question Type"), ("forecast_data", given, "Continuous CDF")):
        if not found:
            names = listed(source.name for source in sources)
            raise PanelError(f"no {kind}.csv (with a column {column!r}) among {names}: give both files of the download")
    questions: dict[str, _PostedQuestion] = {}
    again: dict[str, set[str]] = {}
    for table in asked:
        table.check_header(draft, QUESTION_NEEDS, QUESTION_KNOWN)
        for index, cells in enumerate(table.rows):
            if cells["Question ID"] in questions:
                again.setdefault(cells["Question ID"], set()).add(cells["Resolution"])
                continue
            question = _read_question(draft, cells, table.place(index), options)
            questions[question.id] = question
    _settle_repeats(draft, questions, again)
    _relate_groups(draft, questions, options)
    rows = rows_that_count(draft, given, questions, options)
    for row in rows:
        _add_forecast(draft, questions[row.question], row)
    _add_outcomes(draft, questions, {row.question for row in rows})
    return draft


def _settle_repeats(draft: Draft, questions: dict[str, _PostedQuestion], again: dict[str, set[str]]) -> None:
    """Note the questions that occur more than once; one that is resolved in two ways is left unresolved."""
    if again:
        draft.notes.append(f"questions that are in question_data more than once (the first counts): {listed(again)}")
    torn = [name for name, resolutions in again.items() if resolutions != {questions[name].resolution}]
    for name in torn:
        questions[name].resolution = ""
    if torn:
        draft.notes.append(f"questions resolved in two ways, left unresolved: {listed(torn)}")


def _read_question(draft: Draft, row: dict[str, str], place: str, options: ConversionOptions) -> _PostedQuestion:
    kind = row["Question Type"].strip().lower()
    question = _PostedQuestion(
        row["Question ID"],
        row["Post ID"],
        kind,
        one_line(row["Question Title"]),
        label=row.get("Label", "").strip(),
        resolution=row["Resolution"],
    )
    name = f"q{question.id}"
    if kind == "binary":
        question.events = [name]
        draft.label(name, question.title)
    elif kind == "multiple_choice":
        _declare_options(draft, question, name, row, place=place)
    elif kind in CONTINUOUS:
        _declare_quantity(draft, question, name, row, place=place, thresholds=options.thresholds)
    else:
        raise PanelError(
            f"{place}: unknown question type {kind!r}; the types are binary, multiple_choice, {', '.join(CONTINUOUS)}"
        )
    return question


def _declare_options(draft: Draft, question: _PostedQuestion, name: str, row: dict[str, str], place: str) -> None:
    column = next(
        (c for c in ("MC Options (All)", "MC Options", "MC Options (Current)") if row.get(c, "").strip()), None
    )
    if column is None:
        raise PanelError(f"{place}: a multiple choice question needs options in 'MC Options (All)' or 'MC Options'")
    values = [str(value) for value in list_cell(row[column], place, column)]
    if len(set(values)) < len(values):
        raise PanelError(f"{place}, {column}: an option appears twice: {row[column]}")
    draft.laws.append(declaration(name, values, complete=True))
    question.events = [choice(name, value) for value in values]
    question.positions = list(range(len(values)))
    question.length = len(values)
    for event, value in zip(question.events, values, strict=True):
        draft.label(event, f"{question.title}: {value}")


def _declare_quantity(
    draft: Draft, question: _PostedQuestion, name: str, row: dict[str, str], place: str, thresholds: int
) -> None:
    """Choose thresholds at equal steps of the range on which Metaculus evaluates distributions, and its open bounds."""
    locations = list_cell(row.get("Continuous Range", ""), place, "Continuous Range")
    if len(locations) < 2:
        raise PanelError(f"{place}: a {question.kind} question needs a 'Continuous Range' of two or more locations")
    last = len(locations) - 1
    write = day_cell if question.kind == "date" else number_cell
    chosen = dict.fromkeys(round(step * last / (thresholds + 1)) for step in range(1, thresholds + 1))
    inside = [index for index in chosen if 0 < index < last]
    signs = {index: f"{name} <= {write(locations[index], place)}" for index in inside}
    if row.get("Open Lower Bound", "").lower() == "true":
        signs = {0: f"{name} < {write(locations[0], place)}", **signs}
    if row.get("Open Upper Bound", "").lower() == "true":
        signs[last] = f"{name} <= {write(locations[last], place)}"
    # Days may be coarser than the steps of the range; the first step of a day stands for it.
    distinct: dict[str, int] = {}
    for index, event in signs.items():
        distinct.setdefault(event, index)
    question.events, question.positions = list(distinct), list(distinct.values())
    question.length = len(locations)
    draft.laws.append(f"variable {name}: {'date' if question.kind == 'date' else 'number'}")
    for event in question.events:
        draft.label(event, f"{question.title}: {event.removeprefix(name).strip()}")


def _relate_groups(draft: Draft, questions: dict[str, _PostedQuestion], options: ConversionOptions) -> None:
    """Relate the binary questions of one post by what their labels say, or by what the user says."""
    posts: dict[str, list[_PostedQuestion]] = {}
    for question in questions.values():
        if question.kind == "binary" and question.label:
            posts.setdefault(question.post, []).append(question)
    unknown = [post for post in (*options.partitions, *options.exclusive) if post not in posts]
    if unknown:
        raise PanelError(
            f"no group of binary questions has the post {unknown[0]}; the groups are {listed(posts) or 'none'}"
        )
    related: Counter[str] = Counter()
    unrelated, partial = [], []
    for post, members in posts.items():
        grouping = _grouping(post, members, options)
        if grouping is None:
            unrelated += [post] if len(members) > 1 else []
            continue
        related[grouping.kind] += 1
        partial += [] if grouping.complete else [post]
        draft.laws.append(grouping.law)
        for question, event in zip(members, grouping.events, strict=True):
            draft.labels.pop(f"q{question.id}", None)
            question.events = [event]
            draft.label(event, question.title)
    if related:
        draft.notes.append("groups: " + ", ".join(f"{count} {kind}" for kind, count in related.items()))
    if partial:
        draft.notes.append(
            f"groups of brackets that leave values out, so perhaps none of them comes true: posts {listed(partial)}; "
            f"if exactly one must, give --partition POST"
        )
    if unrelated:
        draft.notes.append(
            f"groups whose labels do not say how their questions are related, so no law relates them: posts "
            f"{listed(unrelated)}; if exactly one question of a post comes true, give --partition POST; "
            "if at most one, --exclusive POST"
        )


def _grouping(post: str, members: Sequence[_PostedQuestion], options: ConversionOptions) -> Grouping | None:
    labels = [question.label for question in members]
    name = f"g{post}"
    if post in options.partitions or post in options.exclusive:
        return declared(name, labels, complete=post in options.partitions)
    return recognise(name, labels, members[0].title.removesuffix(f"({members[0].label})").strip())


def _add_forecast(draft: Draft, question: _PostedQuestion, row: DownloadRow) -> None:
    place, cells, time = row.place, row.cells, row.cells["Start Time"]
    if not row.judge:
        raise PanelError(f"{place}: no forecaster")
    categories = "Probability Yes Per Category"
    if question.kind == "binary":
        # Some aggregates give the no and the yes of a binary question as categories.
        pair = [] if cells["Probability Yes"].strip() else list_cell(cells[categories], place, categories)
        value = pair[1] if len(pair) == 2 else cells["Probability Yes"]
        probability = probability_cell(value, place, "Probability Yes")
        draft.forecasts.append(DraftForecast(row.judge, question.events[0], probability, time))
        return
    column = "Continuous CDF" if question.kind in CONTINUOUS else categories
    values = list_cell(cells[column], place, column)
    if len(values) != question.length:
        values = _stretched(values, question, f"{place}, {column}")
    for event, position in zip(question.events, question.positions, strict=True):
        if values[position] is not None:
            probability = probability_cell(values[position], place, column)
            draft.forecasts.append(DraftForecast(row.judge, event, probability, time))


def _stretched(values: list[Any], question: _PostedQuestion, place: str) -> list[Any]:
    """Evaluate the distribution of a discrete question, which has one value per bucket, on its longer range.

    An outcome is the middle of its bucket, so a location counts the buckets whose middle lies below it.
    """
    if question.kind != "discrete" or len(values) < 2:
        raise PanelError(f"{place}: expected {question.length} values, as in the question, found {len(values)}")
    scale = (len(values) - 1) / (question.length - 1)
    return [values[math.floor(index * scale + 0.5 + 1e-9)] for index in range(question.length)]


def _add_outcomes(draft: Draft, questions: dict[str, _PostedQuestion], forecast: set[str]) -> None:
    unsettled: Counter[str] = Counter()
    for question in questions.values():
        resolution = question.resolution.strip()
        if not resolution or question.id not in forecast:
            continue
        if resolution.lower() in NO_ANSWER:
            unsettled[resolution.lower()] += 1
            continue
        for event, outcome in _outcomes(question, resolution):
            draft.outcomes[event] = outcome
    for word, count in unsettled.items():
        draft.notes.append(f"{counted(count, 'question')} {word}, left unresolved")


def _outcomes(question: _PostedQuestion, resolution: str) -> Iterator[tuple[str, int]]:
    place = f"question {question.id}"
    if question.kind == "binary":
        if resolution.lower() not in {"yes", "no"}:
            raise PanelError(f"{place}: the resolution {resolution!r} of a binary question is neither yes nor no")
        yield question.events[0], int(resolution.lower() == "yes")
    elif question.kind == "multiple_choice":
        right = choice(f"q{question.id}", resolution)
        if right not in question.events:
            raise PanelError(f"{place}: the resolution {resolution!r} is not one of its options")
        for event in question.events:
            yield event, int(event == right)
    else:
        for event in question.events:
            yield event, int(_passed(event, resolution, question.kind, place))


def _passed(event: str, resolution: str, kind: str, place: str) -> bool:
    """Whether a quantity's resolution is below an event's threshold."""
    if resolution in {"below_lower_bound", "above_upper_bound"}:
        return resolution == "below_lower_bound"
    sign, threshold = event.split(" ")[1:]
    if kind == "date":
        day = day_cell(resolution, place)
        return day < threshold or (sign == "<=" and day == threshold)
    number, limit = Decimal(number_cell(resolution, place)), Decimal(threshold)
    return number < limit or (sign == "<=" and number == limit)
