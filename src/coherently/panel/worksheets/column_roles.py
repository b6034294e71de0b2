"""Which column plays which role: by what somebody said, by its name, by what is in it; else a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from coherently.errors import PanelError, Where, counted
from coherently.events import parts
from coherently.panel.layout import ROLES
from coherently.panel.worksheets.cell_numbers import to_number
from coherently.panel.worksheets.column_profile import profile, repeats
from coherently.panel.worksheets.judge_bounds import JudgeColumns, bounded_judges
from coherently.panel.worksheets.reading_question import ReadingAnswer, UnclearTableError, one_role
from coherently.panel.worksheets.role_words import EITHER, spelt, summary_of
from coherently.panel.worksheets.summary_columns import arithmetic_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.panel.worksheets.column_profile import ColumnProfile
    from coherently.panel.worksheets.header_search import FoundTable
    from coherently.panel.worksheets.sheet_grid import Cell

SAID_ROLES = (*ROLES, "odds", "size", "fee", "comment", "ignore")
"""The roles that somebody may give to columns."""
VALUES = ("probability", "odds")
NUMERIC = frozenset({"probability", "lower", "upper", "weight", "size", "fee"})
KEPT = frozenset({"comment", "size", "fee"})
NAMED = frozenset({"max", "min"})
"""Names of bounds that people have, too."""
WORDY = 4
"""Number of words from which on a text is a statement, not the name of a person."""


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The roles of columns, by their numbers.

    `shape` is "wide" (a row for each event, a column for each judge), "turned" (a row for each judge, a column for
    each event) or "long" (a row for each forecast); `single` has the roles that one column plays, `answers` the
    columns of judges or of events, `bounds` those of judges who gave intervals, `comments` those of reasons, `sizes`
    those of what may be traded, and `left_out` says why each other one is not read.
    """

    shape: str
    single: Mapping[str, int]
    answers: tuple[int, ...] = ()
    comments: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    bounds: tuple[JudgeColumns, ...] = ()
    left_out: Mapping[int, str] = field(default_factory=dict)


def find_roles(table: FoundTable, source: str, said: Mapping[str, Sequence[str]]) -> ColumnRoles:
    """Give each column of a table a role, or ask."""
    profiles = {column: profile(table, column) for column in table.names}
    search = _RoleSearch(table, source, profiles, _said_columns(table, source, said))
    return search.find()


def _said_columns(table: FoundTable, source: str, said: Mapping[str, Sequence[str]]) -> dict[int, str]:
    """The roles that somebody gave, by column; a name that no column has is refused."""
    found: dict[int, str] = {}
    for role, names in said.items():
        if role not in SAID_ROLES:
            message = f"unknown role {role!r} in columns; the roles are {', '.join(SAID_ROLES)}"
            raise PanelError(message, code="unknown-option", where=Where(source))
        for name in names:
            matches = [column for column, known in table.names.items() if known.casefold() == name.strip().casefold()]
            if not matches:
                listed = ", ".join(repr(known) for known in table.names.values() if known)
                raise PanelError(
                    f"{source} has no column {name!r} for the role {role}; its columns are {listed}",
                    code="missing-column",
                    where=Where(source, table.header_row, name),
                )
            found[matches[0]] = role
    return found


class _RoleSearch:
    """The search for the roles of the columns of one table."""

    def __init__(
        self, table: FoundTable, source: str, profiles: Mapping[int, ColumnProfile], said: Mapping[int, str]
    ) -> None:
        self._table, self._source, self._profiles, self._said = table, source, profiles, said
        self._people: set[int] = set()
        """Columns that have the name of a bound, without the other one: Max may be somebody."""
        self._bounds = self._bounded()
        self._left_out: dict[int, str] = {column: "ignored" for column, role in said.items() if role == "ignore"}

    def _bounded(self) -> tuple[JudgeColumns, ...]:
        """The judges with two columns each, unless somebody said what else these columns are."""
        names = {
            each.column: each.name
            for each in self._profiles.values()
            if each.is_numeric
            and each.name
            and each.role is None
            and self._said.get(each.column) in (None, "lower", "upper", "probability")
        }
        return tuple(bounded_judges(names))

    def find(self) -> ColumnRoles:
        """Look for the long shape first, as its columns have names of their own."""
        single = self._single_roles()
        comments = self._comments(single)
        bounded = {column for each in self._bounds for column in each.columns}
        taken = {*single.values(), *comments, *self._left_out, *bounded}
        free = [column for column in self._profiles if column not in taken]
        if {"lower", "upper"} <= single.keys():
            self._check_quotes(single, free)
        if single.keys() & set(VALUES) or {"lower", "upper"} & single.keys():
            return self._long(single, free, comments)
        return self._matrix(single, free, comments)

    def _single_roles(self) -> dict[str, int]:
        single: dict[str, int] = {}
        for column, role in self._said.items():
            is_bound = any(column in each.columns for each in self._bounds)
            if role in ("ignore", "comment", "size") or self._has_answers(column) or is_bound:
                continue
            if role in single:
                self._ask(f"two columns are given the role {role}", "Give it to one of them.")
            single[role] = column
        for role in (*ROLES, "odds", "fee"):
            if role not in single and not (role == "lower" and "upper" in single and self._said.get(single["upper"])):
                found = [each for each in self._profiles.values() if self._plays(each, role)]
                if len(found) > 1:
                    found = self._one_of(role, found)
                if found:
                    single[role] = found[0].column
        self._drop_half_quotes(single)
        return single

    def _has_answers(self, column: int) -> bool:
        """Whether somebody said that a column of numbers is that of a judge, or of an event where rows are judges."""
        return self._said.get(column) in ("judge", "event") and self._profiles[column].is_numeric

    def _plays(self, each: ColumnProfile, role: str) -> bool:
        if each.role != role or each.column in self._said or each.is_empty:
            return False
        return (
            each.is_numeric if role in NUMERIC else role not in ("event", "judge") or each.is_textual or not each.name
        )

    def _one_of(self, role: str, found: list[ColumnProfile]) -> list[ColumnProfile]:
        """Of several columns with the role's names: the one with the usual name, the others stay free; else ask."""
        usual = [each for each in found if each.name.lower() in ROLES.get(role, (role,))]
        if len(usual) == 1 or role in ("fee", "time"):
            return usual[:1] or found[:1]
        names = [self._table.name(each.column) for each in found]
        answers = [one_role(role, name, f"{name!r} is the {role}") for name in names]
        return self._ask(
            f"{counted(len(found), 'column')} may be the {role}: {', '.join(map(repr, names))}. Which one is it?",
            " or ".join(each.option for each in answers[:3]) + ".",
            answers=answers,
        )

    def _drop_half_quotes(self, single: dict[str, int]) -> None:
        """One of two quotes alone is read only under its plain name: Max may be somebody."""
        for role, other in (("lower", "upper"), ("upper", "lower")):
            alone = role in single and other not in single and single[role] not in self._said
            if alone and self._profiles[single[role]].name.lower() not in ROLES[role]:
                column = single.pop(role)
                self._people |= {column} if spelt(self._profiles[column].name) in NAMED else set()

    def _comments(self, single: Mapping[str, int]) -> list[int]:
        said = [column for column, role in self._said.items() if role == "comment"]
        known = [each.column for each in self._profiles.values() if each.role == "comment" and not each.is_numeric]
        return [column for column in dict.fromkeys([*said, *known]) if column not in single.values()]

    def _long(self, single: dict[str, int], free: list[int], comments: list[int]) -> ColumnRoles:
        if "event" not in single:
            texts = [c for c in free if self._profiles[c].is_textual]
            single["event"] = self._only(texts, "event", "the events")
        free = [column for column in free if column != single["event"]]
        if "judge" not in single:
            texts = [c for c in free if self._profiles[c].is_textual and spelt(self._profiles[c].name) in EITHER]
            if texts:
                single["judge"] = texts[0]
        sizes = [column for column in free if self._is_size(column)]
        for column in free:
            if column not in {*single.values(), *sizes}:
                self._left_out.setdefault(column, self._spare_reason(column))
        return ColumnRoles("long", single, comments=tuple(comments), sizes=tuple(sizes), left_out=self._left_out)

    def _is_size(self, column: int) -> bool:
        return (self._said.get(column) or self._profiles[column].role) == "size" and self._profiles[column].is_numeric

    def _spare_reason(self, column: int) -> str:
        each = self._profiles[column]
        return "empty" if each.is_empty else "no role in a table of forecasts"

    def _check_quotes(self, single: Mapping[str, int], free: list[int]) -> None:
        """Beside quotes, columns of numbers that may be judges are asked about."""
        spare = [c for c in free if self._profiles[c].is_numeric and self._profiles[c].role is None]
        told = {single["lower"], single["upper"]} & self._said.keys()
        if spare and not told and not {"judge", "probability"} & single.keys():
            low, high = (self._table.name(single[role]) for role in ("lower", "upper"))
            names = ", ".join(repr(self._table.name(column)) for column in spare)
            self._ask(
                f"{low!r} and {high!r} look like quotes or intervals, beside {names}. What are they?",
                f"--columns lower={low},upper={high} reads intervals, and leaves the other columns out; "
                f"--columns ignore={low},ignore={high} reads the others as judges.",
                answers=[
                    ReadingAnswer(f"{low!r} and {high!r} are bounds", (("lower", (low,)), ("upper", (high,)))),
                    ReadingAnswer(f"{names} are judges; leave the two out", (("ignore", (low, high)),)),
                ],
            )

    def _matrix(self, single: dict[str, int], free: list[int], comments: list[int]) -> ColumnRoles:
        answers = self._answer_columns(free)
        if not answers and not self._bounds:
            self._ask(
                "no column of probabilities, and no column of numbers for any judge",
                "--columns event=...,probability=... says which columns they are.",
                code="missing-column",
            )
        if {"event", "judge"} <= single.keys() and not self._bounds:
            single["probability"] = self._only(answers, "probability", "the probabilities")
            return self._long(single, [column for column in free if column != answers[0]], comments)
        spare = sorted(set(free).difference(answers))
        shape = self._shape(single, spare)
        for role in single.keys() - {"event", "judge", "outcome"}:
            self._left_out[single.pop(role)] = f"a {role}, which a table with a column for each judge cannot have"
        for column in spare:
            if column not in single.values():
                self._left_out.setdefault(column, self._spare_words(column))
        return ColumnRoles(shape, single, tuple(answers), tuple(comments), bounds=self._bounds, left_out=self._left_out)

    def _spare_words(self, column: int) -> str:
        each = self._profiles[column]
        if each.is_empty:
            return "empty"
        if not each.name:
            return "it has no name"
        return "texts, not numbers" if each.is_textual else "its name is not a judge's"

    def _answer_columns(self, free: list[int]) -> list[int]:
        """Columns of numbers that belong to judges or events, without those that sum up the others."""
        found = []
        for column in free:
            each = self._profiles[column]
            if self._has_answers(column):
                found.append(column)
            elif each.name and each.is_numeric and each.summary not in (None, "extreme"):
                self._left_out[column] = f"the {each.summary} of the others, by its name"
            elif each.name and each.is_numeric and (each.role is None or column in self._people):
                found.append(column)
        rows = [cells for cells in map(self._table.grid.rows.__getitem__, self._table.rows) if not _sums_up(cells)]
        matrix = np.array([[_share_of(cells.get(column)) for column in found] for cells in rows], np.float64)
        matrix = matrix.reshape(len(rows), len(found))
        for place, what in arithmetic_columns(matrix).items():
            if found[place] not in self._said:
                self._left_out[found[place]] = f"the {what} of the others in every row"
        self._check_nameless(free, found)
        return [column for column in found if column not in self._left_out]

    def _check_nameless(self, free: list[int], found: list[int]) -> None:
        """A column of numbers between those of judges has lost its name."""
        lost = [c for c in free if not self._profiles[c].name and self._profiles[c].numbers and found and c < found[-1]]
        if lost:
            self._ask(
                f"{self._table.name(lost[0])} has numbers and no name. Whose are they?",
                "Write a name above the numbers, or delete them.",
                code="bad-header",
            )

    def _shape(self, single: dict[str, int], spare: list[int]) -> str:
        """Whether rows are events or judges."""
        if "event" in single:
            return "wide"
        if "judge" in single:
            return "turned"
        texts = [column for column in spare if self._profiles[column].is_textual]
        first = self._only(texts, "event", "the events")
        if not self._profiles[first].name:
            single["event"] = first
            return "wide"
        role = self._event_or_judge(first)
        single[role] = first
        return "wide" if role == "event" else "turned"

    def _event_or_judge(self, column: int) -> str:
        """What the texts of a column are: statements and formulas are events; else ask."""
        below = [str(cell) for cell in self._table.column(column) if isinstance(cell, str)]
        if any(_is_statement(text) for text in below) and not repeats(self._table.column(column)):
            return "event"
        heads = [each.name for each in self._profiles.values() if each.column != column]
        if any(_is_statement(name) for name in heads):
            return "judge"
        name = self._table.name(column)
        answers = [one_role("event", name, "the events"), one_role("judge", name, "the judges")]
        return self._ask(
            f"does the column {name!r} have the events or the judges?",
            f"{answers[0].option} or {answers[1].option}.",
            answers=answers,
        )

    def _only(self, columns: list[int], role: str, what: str) -> int:
        if len(columns) == 1:
            return columns[0]
        if columns and columns[0] == min(self._profiles) and not self._profiles[columns[0]].name:
            return columns[0]
        names = [self._table.name(column) for column in columns] or [
            each for each in self._table.names.values() if each
        ]
        return self._ask(
            f"no column is called by a name for {what}; which one has them: {', '.join(map(repr, names))}?",
            f"--columns {role}={names[0]}, for example." if names else "Give the columns names.",
            answers=[one_role(role, name, f"{name!r} has {what}") for name in names],
        )

    def _ask(
        self, question: str, choices: str, *, code: str = "unclear-columns", answers: Sequence[ReadingAnswer] = ()
    ) -> NoReturn:
        in_python = "In Python: read_panel(..., columns={'event': 'Risk', ...})."
        raise UnclearTableError(
            f"{self._source}, header in row {self._table.header_row}: {question}\nSay which: {choices} {in_python}",
            question=question,
            answers=tuple(answers),
            code=code,
            where=Where(self._source, self._table.header_row),
            remedy=choices,
        )


def _sums_up(cells: Mapping[int, Cell]) -> bool:
    """Whether a row is called as one that sums up others."""
    return any(isinstance(cell, str) and summary_of(cell) is not None for cell in cells.values())


def _share_of(cell: Cell | None) -> float:
    number = to_number(cell)
    return np.nan if number is None else number


def _is_statement(text: str) -> bool:
    """Whether a text says something: it has several words, or is a formula of parts.

    >>> [_is_statement(text) for text in ("Ann Lee", "fire & flood", "Sales fall below last year")]
    [False, True, True]
    """
    return len(text.split()) >= WORDY or len(list(parts(text))) > 1
