"""A sheet into a table of forecasts: roles, rows that are not answers, numbers as shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coherently.errors import ListedProblem, PanelError, Where, counted
from coherently.panel.cell_table import ProblemList, Table, no_rows
from coherently.panel.layout import Long, Wide
from coherently.panel.worksheets.cell_numbers import (
    decimals_of,
    from_odds,
    is_no_answer,
    is_per_cent,
    odds_kind,
    share,
    to_number,
)
from coherently.panel.worksheets.column_roles import find_roles
from coherently.panel.worksheets.header_search import header_text, row_text, shown_cell
from coherently.panel.worksheets.judge_bounds import to_range
from coherently.panel.worksheets.reading_question import ReadingAnswer, UnclearTableError
from coherently.panel.worksheets.reading_record import ColumnReading, KeptCell, SampleRow, SkippedRow, TableReading
from coherently.panel.worksheets.role_words import says_percent, summary_of
from coherently.panel.worksheets.sheet_grid import Uncomputed, column_letters
from coherently.panel.worksheets.summary_columns import sums_up_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.panel.worksheets.header_search import FoundTable
    from coherently.panel.worksheets.sheet_grid import Cell

COMPUTE = "Open the file in a spreadsheet program and save it there, so that the values are in it."
SAMPLE = 30
"""Number of rows that the record shows."""
SHARES = ("probability", "lower", "upper")
IntervalCells: TypeAlias = "tuple[Cell | None, Cell | None, Cell | None]"
"""A probability, a lower and an upper bound; None where there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class SheetTable:
    """A table whose columns have known roles, and how it was read."""

    table: Table
    layout: Long | Wide
    reading: TableReading


class SheetReader:
    """Reads the table of one sheet; `said` has the roles that somebody gave to columns, `percent` is an option."""

    def __init__(self, found: FoundTable, source: str, said: Mapping[str, Sequence[str]], *, percent: bool) -> None:
        self._found, self._source = found, source
        self._roles = find_roles(found, source, said)
        self._percent = percent
        self._skipped: list[SkippedRow] = [SkippedRow(row, text, "above the header") for row, text in found.above]
        self._guesses: list[str] = []
        self._rows = self._answer_rows()
        if not self._rows:
            raise no_rows(source)
        self._refuse_uncomputed()

    def read(self, **told: object) -> SheetTable:
        """The table; `told` is what is known of the file."""
        shape = self._roles.shape
        table, layout = self._long() if shape == "long" else self._wide() if shape == "wide" else self._turned()
        return SheetTable(table, layout, self._reading(told))

    # Which rows are answers.

    def _answer_rows(self) -> list[int]:
        rows: list[int] = []
        for row in self._found.rows:
            why = self._why_not(row, rows)
            if why is None:
                rows.append(row)
            else:
                self._skipped.append(SkippedRow(row, row_text(self._found.grid.rows[row]), why))
        return rows

    def _why_not(self, row: int, above: list[int]) -> str | None:
        """Why a row has no answers, if it has none."""
        roles, cells = self._roles, self._found.grid.rows[row]
        named = {column: name for column, name in self._found.names.items() if name}
        if sum(header_text(cells[c]) == name for c, name in named.items() if c in cells) >= max(2, len(named) - 1):
            return "the header again"
        label = cells.get(roles.single["judge" if roles.shape == "turned" else "event"])
        values = self._value_columns()
        answered = any(_is_given(cells.get(column)) for column in values)
        marked = any(c in cells for c in values)
        if isinstance(label, str):
            what = summary_of(label)
            lone = roles.shape != "long" or "judge" not in roles.single or roles.single["judge"] not in cells
            if what not in (None, "extreme") and lone:
                return f"the {what} of others, by its name"
            if roles.shape == "long":  # who forecast what is said, so a probability is missing
                return "no numbers in the row" if not marked and self._is_remark(cells) else None
            return None if answered or marked else "no numbers in the row"
        if not answered:
            return "no name and no numbers in the row" if roles.shape != "long" or self._is_remark(cells) else None
        what = None if roles.shape == "long" else sums_up_rows(self._matrix(above), self._matrix([row])[0])
        return None if what is None else f"the {what} of the rows above, without a name"

    def _is_remark(self, cells: Mapping[int, Cell]) -> bool:
        """Whether a row of a long table has one text, and nothing else in a column with a role."""
        return sum(column in cells for column in self._roles.single.values()) <= 1

    def _value_columns(self) -> tuple[int, ...]:
        single = self._roles.single
        bounds = tuple(column for each in self._roles.bounds for column in each.columns)
        others = tuple(single[role] for role in (*SHARES, "odds", "outcome") if role in single)
        return (*self._roles.answers, *bounds) or others

    def _matrix(self, rows: Sequence[int]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        cells = [[to_number(self._found.grid.rows[row].get(c)) for c in self._roles.answers] for row in rows]
        return np.array(cells, np.float64).reshape(len(rows), len(self._roles.answers))

    def _refuse_uncomputed(self) -> None:
        problems = ProblemList()
        columns = {*self._value_columns(), *self._roles.single.values()}
        found = {
            row: next(c for c in columns if isinstance(self._found.grid.rows[row].get(c), Uncomputed))
            for row in self._rows
            if any(isinstance(self._found.grid.rows[row].get(c), Uncomputed) for c in columns)
        }

        def say(row: int) -> ListedProblem:
            cell, name = self._found.grid.rows[row][found[row]], self._found.name(found[row])
            where = Where(self._source, row, name)
            formula = cell.formula if isinstance(cell, Uncomputed) else ""
            return ListedProblem(f"{where.words}: the formula ={formula} has no value in the file", "no-value", where)

        problems.add(list(found), say, [COMPUTE])
        problems.check()

    # Tables of the three shapes.

    def _cells(self, column: int) -> list[Cell | None]:
        return [self._found.grid.rows[row].get(column) for row in self._rows]

    def _texts(self, column: int) -> list[str | None]:
        """Names: whole numbers without decimals, spaces of any kind as one space."""
        return [None if cell is None else header_text(cell) for cell in self._cells(column)]

    def _shares(self, column: int) -> list[Cell | None]:
        cells = self._cells(column)
        return [share(cell, self._scale(column, cells)) for cell in cells]

    def _scale(self, column: int, cells: Sequence[Cell | None]) -> float:
        """100 if plain numbers are per cent: somebody said so, or the header or a title does."""
        if self._percent:
            return 100
        plain = [to_number(cell) for cell in cells if not is_per_cent(cell)]
        greatest = max((number for number in plain if number is not None), default=0.0)
        titles = [text for _, text in self._found.above]
        told = [text for text in (self._found.names[column], *titles) if says_percent(text)]
        if not told or greatest <= 1:
            return 1
        guess = f"plain numbers are per cent, since {told[0]!r} says so"
        if guess not in self._guesses:
            self._guesses.append(guess)
        return 100

    def _wide(self) -> tuple[Table, Long | Wide]:
        if self._roles.bounds or any(map(to_range, (cell for c in self._roles.answers for cell in self._cells(c)))):
            return self._intervals()
        single = self._roles.single
        event = self._found.names[single["event"]] or "event"
        columns: dict[str, list[object]] = {event: list(self._texts(single["event"]))}
        names = self._distinct([self._found.names[column] for column in self._roles.answers], columns)
        for name, column in zip(names, self._roles.answers, strict=True):
            columns[name] = list(self._shares(column))
        outcome = None
        if "outcome" in single:
            (outcome,) = self._distinct([self._found.names[single["outcome"]]], columns)
            columns[outcome] = list(self._cells(single["outcome"]))
        table = Table(self._source, columns, np.array(self._rows, np.int64))
        return table, Wide(event, tuple(names), outcome)

    def _intervals(self) -> tuple[Table, Long]:
        """Intervals beside probabilities: one row for each judge and event, in the order of reading."""
        events, judges = self._texts(self._roles.single["event"]), self._judges_with_intervals()
        self._distinct([name for name, _ in judges], {})
        outcome = self._roles.single.get("outcome")
        made: dict[str, list[object]] = {name: [] for name in ("judge", "event", *SHARES, "outcome")}
        rows = []
        for i, row in enumerate(self._rows):
            for judge, answers in judges:
                if any(value is not None for value in answers[i]):
                    rows.append(row)
                    ended = None if outcome is None else self._found.grid.rows[row].get(outcome)
                    for name, value in zip(made, (judge, events[i], *answers[i], ended), strict=True):
                        made[name].append(value)
        self._say_intervals(judges)
        layout = Long("event", "probability", "judge", lower="lower", upper="upper")
        if outcome is None:
            del made["outcome"]
        else:
            layout = replace(layout, outcome="outcome")
        return Table(self._source, made, np.array(rows, np.int64)), layout

    def _judges_with_intervals(self) -> list[tuple[str, list[IntervalCells]]]:
        """Each judge with probability and bounds in every row; those with columns of their own come last."""
        found = [(self._found.names[column], self._range_cells(column)) for column in self._roles.answers]
        for each in self._roles.bounds:
            best = None if each.probability is None else self._shares(each.probability)
            lows, highs = self._shares(each.lower), self._shares(each.upper)
            middle = [None] * len(self._rows) if best is None else best
            found.append((each.judge, list(zip(middle, lows, highs, strict=True))))
        return found

    def _range_cells(self, column: int) -> list[IntervalCells]:
        cells = self._cells(column)
        scale = self._scale(column, cells)
        found: list[IntervalCells] = []
        for cell in cells:
            ends = to_range(cell)
            if ends is None:
                found.append((share(cell, scale), None, None))
                continue
            low, high = ends if is_per_cent(cell) else (ends[0] / scale, ends[1] / scale)
            found.append((None, low, high) if high <= 1 else (cell, None, None))
        return found

    def _say_intervals(self, judges: Sequence[tuple[str, Sequence[IntervalCells]]]) -> None:
        own = [each.judge for each in self._roles.bounds]
        if own:
            low, high = (self._found.name(c) for c in (self._roles.bounds[0].lower, self._roles.bounds[0].upper))
            more = f", and so for {counted(len(own) - 1, 'more judge')}" if len(own) > 1 else ""
            self._guesses.append(
                f"{low} and {high} are read as the bounds of {own[0]}{more} (--columns judge={low},judge={high} reads "
                f"them as two judges)"
            )
        in_cells = sum(low is not None for name, answers in judges if name not in own for _, low, _ in answers)
        if in_cells:
            self._guesses.append(f"{counted(in_cells, 'cell')} with two numbers read as intervals")

    def _distinct(self, names: Sequence[str], taken: Mapping[str, object]) -> list[str]:
        """Refuse two columns of one name: two judges cannot have it."""
        seen = {name.casefold() for name in taken}
        for name in names:
            if name.casefold() in seen:
                raise PanelError(
                    f"{self._source} row {self._found.header_row}: two columns are called {name!r}: rename one, or "
                    f"leave one out (--columns ignore=...)",
                    code="bad-header",
                    where=Where(self._source, self._found.header_row, name),
                )
            seen.add(name.casefold())
        return list(names)

    def _turned(self) -> tuple[Table, Long]:
        """Judges in rows: one forecast for each answer, in the order of reading."""
        judges = self._texts(self._roles.single["judge"])
        columns = [self._shares(column) for column in self._roles.answers]
        names = self._distinct([self._found.names[column] for column in self._roles.answers], {})
        cells = [
            (row, judges[i], name, column[i])
            for i, row in enumerate(self._rows)
            for name, column in zip(names, columns, strict=True)
            if column[i] is not None
        ]
        rows, who, what, values = (list(each) for each in zip(*cells, strict=True)) if cells else ([], [], [], [])
        made = {"judge": who, "event": what, "probability": values}
        return Table(self._source, made, np.array(rows, np.int64)), Long("event", "probability", "judge")

    def _long(self) -> tuple[Table, Long]:
        single = dict(self._roles.single)
        columns: dict[str, list[object]] = {}
        names: dict[str, str] = {}
        if "odds" in single:
            self._read_odds(single)
        for role in ("judge", "event", *SHARES, "weight", "outcome", "time"):
            if role in single:
                names[role] = self._found.names[single[role]] or role
                columns[names[role]] = list(self._role_cells(role, single[role]))
        if "fee" in single:
            self._count_fees(columns, names, single["fee"])
        layout = Long(**names, ignored=())
        return Table(self._source, columns, np.array(self._rows, np.int64)), layout

    def _role_cells(self, role: str, column: int) -> Sequence[object]:
        if role in ("judge", "event"):
            return self._texts(column)
        if role == "probability" and column == self._roles.single.get("odds"):
            kind = odds_kind(self._cells(column))
            return [cell if kind is None else from_odds(cell, kind) for cell in self._cells(column)]
        if role in SHARES:
            return self._shares(column)
        if role == "weight":
            return [cell if to_number(cell) is None else to_number(cell) for cell in self._cells(column)]
        return self._cells(column)

    def _read_odds(self, single: dict[str, int]) -> None:
        """Odds give the probability, unless there is a column of probabilities."""
        name = self._found.name(single["odds"])
        kind = odds_kind(self._cells(single["odds"]))
        if "probability" in single:
            self._guesses.append(f"{name} is not used, since there is a column of probabilities")
            return
        if kind is None:
            question = (
                f"are the odds in column {name!r} decimal (2.5), fractional (3/2) or American (+150, -200)? The column "
                f"does not tell: write all of them in one of these ways, or give probabilities"
            )
            raise UnclearTableError(
                f"{self._source}: {question} (--columns probability=...)",
                question=question,
                answers=(ReadingAnswer("these are no odds: leave the column out", (("ignore", (name,)),)),),
                code="unclear-columns",
                where=Where(self._source, self._found.header_row, name),
            )
        single["probability"] = single["odds"]
        example = {"decimal": "1 / odds", "fractional": "b / (a + b) of a/b", "American": "100 / (odds + 100)"}[
            kind.value
        ]
        self._guesses.append(
            f"{name} is read as {kind.value} odds, each a probability ({example}) with the bookmaker's margin in it"
        )

    def _count_fees(self, columns: dict[str, list[object]], names: Mapping[str, str], column: int) -> None:
        """A fee makes a bid lower and an ask higher by as much; without quotes it changes no probability."""
        if not {"lower", "upper"} <= names.keys():
            return
        fees = [to_number(cell) for cell in self._cells(column)]
        for role, sign in (("lower", -1.0), ("upper", 1.0)):
            bounds = columns[names[role]]
            for i, fee in enumerate(fees):
                value = bounds[i]
                if fee is not None and isinstance(value, float):
                    bounds[i] = min(1.0, max(0.0, value + sign * fee / (100.0 if self._percent else 1.0)))
        self._guesses.append(
            f"{self._found.name(column)} is counted as the fee of one contract: bids are lower by it and asks higher"
        )

    # What a person should know.

    def _reading(self, told: Mapping[str, object]) -> TableReading:
        found, roles = self._found, self._roles
        values = [cell for column in self._value_columns() for cell in self._cells(column)]
        decimals = decimals_of(values)
        first, last = found.header_row, (max(found.rows) if found.rows else found.header_row)
        return TableReading(
            source=self._source,
            header_row=found.header_row,
            shape=roles.shape,
            columns=tuple(self._column_reading(column) for column in found.names),
            decimals=None if decimals is None else decimals.value,
            per_cent=sum(map(is_per_cent, values)),
            blank=last - first - len(found.rows),
            skipped=tuple(self._skipped),
            reasons=tuple(self._kept(roles.comments)),
            kept=tuple(self._kept(roles.sizes)),
            guesses=tuple(self._guesses),
            sample=self._sample(),
            careful=True,
            **told,  # type: ignore[arg-type]
        )

    def _sample(self) -> tuple[SampleRow, ...]:
        rows = list(self._found.grid.rows.items())[:SAMPLE]
        return tuple(
            SampleRow(row, tuple(shown_cell(cells.get(column)) for column in self._found.names)) for row, cells in rows
        )

    def _column_reading(self, column: int) -> ColumnReading:
        roles = self._roles
        place, name = column_letters(column), self._found.names[column]
        role = next((role for role, one in roles.single.items() if one == column), None)
        if role is None and column in roles.answers:
            role = "event" if roles.shape == "turned" else "judge"
        for each in roles.bounds:
            if column in each.columns:
                role = "lower" if column == each.lower else "upper" if column == each.upper else "probability"
        if role is None and column in (*roles.comments, *roles.sizes):
            role = "comment" if column in roles.comments else "size"
        if role is not None:
            return ColumnReading(place, name, role)
        return ColumnReading(place, name, "left out", roles.left_out.get(column, "it plays no role"))

    def _kept(self, columns: Sequence[int]) -> list[KeptCell]:
        single = self._roles.single
        texts = {role: self._texts(single[role]) if role in single else None for role in ("event", "judge")}
        kept = []
        for column in columns:
            for i, cell in enumerate(self._cells(column)):
                if not is_no_answer(cell) and cell is not None:
                    event, judge = (None if texts[role] is None else texts[role][i] for role in ("event", "judge"))  # type: ignore[index]
                    name = self._found.name(column)
                    kept.append(KeptCell(self._rows[i], name, header_text(cell), event or "", judge=judge))
        return kept


def _is_given(cell: Cell | None) -> bool:
    """Whether somebody answered in a cell: a number, two of them, or a formula."""
    return to_number(cell) is not None or to_range(cell) is not None or isinstance(cell, Uncomputed)
