"""Cells into typed columns; one error lists all cells of a column that cannot be read."""

from __future__ import annotations

import reprlib
import sys
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from coherently.errors import ListedProblem, PanelError
from coherently.events import PackedTexts
from coherently.panel.cell_table import ProblemList
from coherently.panel.columnar.cell_values import (
    ABSTENTION,
    EMPTY,
    ROUNDING,
    WEIGHT,
    Refusal,
    are_weights,
    is_unicode,
    to_moment,
    to_outcome,
    to_probability,
    to_text,
    to_weight,
)
from coherently.panel.columnar.coded import CodedCells, NumberCells
from coherently.panel.texts import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from coherently.panel.cell_table import Table, TableCells

T = TypeVar("T")
Missing: TypeAlias = Literal["error", "abstain"]


def probabilities(table: Table, column: str, *, percent: bool, missing: Missing) -> NDArray[np.float64]:
    """Read probabilities, NaN where a judge abstained; with `percent` a plain 35 is 0.35."""
    scale = 100 if percent else 1
    abstain = missing == "abstain"
    convert = partial(to_probability, scale=scale, abstain=abstain)
    cells = table.columns[column]
    if isinstance(cells, NumberCells):
        share = cells.values / scale
        share[cells.odd] = _odd_numbers(table, column, cells, convert)
        return np.clip(share, 0.0, 1.0)
    values = _plain_numbers(cells)
    if values is not None:
        share = values / scale
        fine = (share >= -ROUNDING) & (share <= 1 + ROUNDING)
        if np.all(fine | np.isnan(share) if abstain else fine):
            return np.clip(share, 0.0, 1.0)
    return np.array(_converted(table, column, convert), dtype=np.float64)


def weights(table: Table, column: str) -> NDArray[np.float64]:
    """Read weights: 0, or a number in the range of weights."""
    cells = table.columns[column]
    if isinstance(cells, NumberCells):
        values = cells.values.copy()
        values[cells.odd] = _odd_numbers(table, column, cells, to_weight)
        if not are_weights(values).all():  # among the plain numbers from 0 on are some that are too small
            _converted(replace(table, columns={column: values}), column, to_weight)
        return values
    plain = _plain_numbers(cells)
    if plain is not None and are_weights(plain).all():
        return plain
    return np.array(_converted(table, column, to_weight), dtype=np.float64)


def check_weights(weight: NDArray[np.float64], name: Callable[[int], str]) -> None:
    """Refuse weights that were computed and are outside the range of weights; `name` says whose each is."""
    problems = ProblemList()

    def say(row: int) -> ListedProblem:
        value = float(weight[row])
        found = f"{name(row)} is {f'{value:g}' if value > sys.float_info.min else 'almost 0'}"
        return ListedProblem(found, "bad-weight", remedy=WEIGHT)

    problems.add(np.flatnonzero(~are_weights(weight)).tolist(), say, [WEIGHT])
    problems.check()


def bounds(
    table: Table, lower: str | None, upper: str | None, *, percent: bool
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Read lower and upper bounds as probabilities: None without the column, NaN where a row has no bound."""
    low, high = (
        None if column is None else probabilities(table, column, percent=percent, missing="abstain")
        for column in (lower, upper)
    )
    if low is not None and high is not None:
        problems, remedy = ProblemList(), "The lower bound must not be above the upper bound: swap or fix them."
        problems.add(
            np.flatnonzero(low > high).tolist(),
            lambda row: table.problem(
                row, None, "bad-interval", f"{lower} {low[row]} is above {upper} {high[row]}", remedy
            ),
            [remedy],
        )
        problems.check()
    return low, high


def check_inside(
    table: Table,
    column: str,
    probability: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> None:
    """Refuse probabilities outside their own intervals."""
    problems = ProblemList()
    remedy = "A probability must lie in its own interval: fix one of the three, or leave the probability empty."
    for outside, word, bound in (
        (probability < lower, "below lower", lower),
        (probability > upper, "above upper", upper),
    ):
        problems.add(
            np.flatnonzero(outside).tolist(),
            lambda row, word=word, bound=bound: table.problem(  # type: ignore[misc]
                row, None, "outside-interval", f"{column} {probability[row]} is {word} {bound[row]}", remedy
            ),
            [remedy],
        )
    problems.check()


def check_given(table: Table, column: str | None, probability: NDArray[np.float64]) -> None:
    """Refuse rows that have neither a probability nor an interval."""
    problems = ProblemList()
    problems.add(
        np.flatnonzero(np.isnan(probability)).tolist(),
        lambda row: table.problem(
            row, column, "missing-probability", "no probability, and no lower or upper bound", ABSTENTION
        ),
        [ABSTENTION],
    )
    problems.check()


def texts(table: Table, column: str) -> list[str]:
    """Read the names of judges or events, stripped."""
    cells = table.columns[column]
    if isinstance(cells, list) and set(map(type, cells)) == {str}:
        stripped = list(map(str.strip, cells))
        if all(stripped) and is_unicode("".join(stripped)):
            return stripped
    return _converted(table, column, to_text)


def names(table: Table, column: str) -> CodedCells:
    """Read the names of judges or events, stripped, as numbers of the distinct ones."""
    cells = table.columns[column]
    if not isinstance(cells, CodedCells):
        return CodedCells(*encode(texts(table, column)))
    assert isinstance(cells.distinct, PackedTexts)
    blank = [-1, *cells.distinct.empty().tolist()]
    if cells.codes.min(initial=0) < 0 or len(blank) > 1:
        rows = np.flatnonzero(np.isin(cells.codes, blank)).tolist()
        problems = ProblemList()
        problems.add(rows, lambda row: _refused(table, row, column, EMPTY, cell=None), EMPTY.remedies)
        problems.check()
    return cells


def outcomes(table: Table, column: str) -> NDArray[np.int8]:
    """Read outcomes: 1 true, 0 false, -1 unresolved."""
    cells = table.columns[column]
    if isinstance(cells, CodedCells):
        found = _converted_distinct(table, column, cells, np.arange(len(cells)), convert=to_outcome)
        return np.array(found, np.int8)[cells.codes]
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        absent = np.isnan(cells)
        if np.all((cells == 0) | (cells == 1) | absent):
            return np.where(absent, np.int8(-1), cells == 1).astype(np.int8)
    return np.array(_converted(table, column, to_outcome), dtype=np.int8)


def times(table: Table, column: str) -> NDArray[np.float64]:
    """Read numbers as they are, or ISO dates as seconds since 1970 (UTC where no zone is given)."""
    cells = table.columns[column]
    if isinstance(cells, NumberCells):
        return _times_among_numbers(table, column, cells)
    values = _plain_numbers(cells)
    if values is not None and np.isfinite(values).all():
        return values
    moments = _converted(table, column, to_moment)
    _check_dated(table, column, np.array([isinstance(moment, datetime) for moment in moments]), cells)
    return np.array([_seconds(moment) for moment in moments], dtype=np.float64)


def _times_among_numbers(table: Table, column: str, cells: NumberCells) -> NDArray[np.float64]:
    moments = _converted_distinct(table, column, cells.odd_cells, cells.odd, convert=to_moment)
    dated = np.zeros(len(cells), np.bool_)
    dated[cells.odd] = np.array([isinstance(moment, datetime) for moment in moments], np.bool_)[cells.odd_cells.codes]
    _check_dated(table, column, dated, cells)
    values = cells.values.copy()
    values[cells.odd] = np.array([_seconds(moment) for moment in moments], np.float64)[cells.odd_cells.codes]
    return values


def _check_dated(table: Table, column: str, dated: NDArray[np.bool_], cells: TableCells) -> None:
    """Refuse dates beside numbers."""
    if dated.any() and not dated.all():
        rows = (int(dated.argmax()), int(dated.argmin()))
        places = [f"{table.place(row, column)} has {reprlib.repr(cells[row])}" for row in rows]
        raise PanelError(
            f"{' but '.join(places)}: write all times as dates or all as numbers",
            code="bad-time",
            where=table.where(rows[1], column),
            remedy="write all times as dates or all as numbers",
        )


def _seconds(moment: Any) -> float:
    return moment.timestamp() if isinstance(moment, datetime) else float(moment)


def _plain_numbers(cells: Sequence[Any] | NDArray[np.generic]) -> NDArray[np.float64] | None:
    """Convert a whole column of numbers in one step, or return None; NaN only where a cell is the number NaN."""
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64) if cells.dtype.kind in "iuf" else None
    kinds = set(map(type, cells))
    try:
        if kinds <= {int, float}:
            return np.array(cells, dtype=np.float64)
        if kinds == {str} and "_" not in "".join(cells):
            values = np.fromiter(map(float, cells), np.float64, len(cells))
            return values if np.isfinite(values).all() else None
    except (ValueError, OverflowError):
        pass
    return None


def _converted(table: Table, column: str, convert: Callable[[object], T | Refusal]) -> list[T]:
    """Convert every cell, each distinct one once, or raise all refusals as one error."""
    cells = table.columns[column]
    plain = cells.tolist() if isinstance(cells, np.ndarray) else cells
    # Only cells of one type can be told apart by value: 1, 1.0 and True are equal.
    mixed = len(set(map(type, plain))) > 1
    keys = list(zip(map(type, plain), plain, strict=True)) if mixed else plain
    try:
        known = {key: convert(cell) for key, cell in dict(zip(keys, plain, strict=True)).items()}
        answers = [known[key] for key in keys]
    except TypeError:  # a list or a dict, which cannot be a key
        answers = [convert(cell) for cell in plain]
    refused = {row: answer for row, answer in enumerate(answers) if isinstance(answer, Refusal)}
    problems = ProblemList()
    problems.add(
        list(refused),
        lambda row: _refused(table, row, column, refused[row], cell=plain[row]),
        [remedy for refusal in refused.values() for remedy in refusal.remedies],
    )
    problems.check()
    return answers  # type: ignore[return-value]


def _refused(table: Table, row: int, column: str, refusal: Refusal, cell: object) -> ListedProblem:
    found = refusal.reason.format(reprlib.repr(cell))
    return table.problem(row, column, refusal.code, found, " ".join(refusal.remedies))


def _odd_numbers(
    table: Table, column: str, cells: NumberCells, convert: Callable[[object], float | Refusal]
) -> NDArray[np.float64]:
    """Convert the cells that are not plain numbers."""
    answers = _converted_distinct(table, column, cells.odd_cells, cells.odd, convert=convert)
    return np.array(answers, np.float64)[cells.odd_cells.codes]


def _converted_distinct(
    table: Table, column: str, cells: CodedCells, rows: NDArray[np.int64], convert: Callable[[object], T | Refusal]
) -> list[T]:
    """Convert each distinct cell, the missing one last; `rows` says where the cells are."""
    answers = [convert(cell) for cell in cells.distinct]
    if cells.codes.min(initial=0) < 0:
        answers.append(convert(None))
    refused = {code: answer for code, answer in enumerate(answers) if isinstance(answer, Refusal)}
    if refused:
        codes = np.where(cells.codes < 0, len(cells.distinct), cells.codes)
        places = np.flatnonzero(np.isin(codes, list(refused)))
        found = dict(zip(rows[places].tolist(), places.tolist(), strict=True))
        problems = ProblemList()
        problems.add(
            list(found),
            lambda row: _refused(table, row, column, refused[int(codes[found[row]])], cell=cells[found[row]]),
            [remedy for refusal in refused.values() for remedy in refusal.remedies],
        )
        problems.check()
    return answers  # type: ignore[return-value]
