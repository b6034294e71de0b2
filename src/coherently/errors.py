"""Errors that the user can fix: a message that says how, and the same as fields that a program reads."""

from __future__ import annotations

import difflib
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from coherently.viewed import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SHOWN = 10
"""Maximum number of problems that one message lists; the rest are counted."""
KEPT = 1_000
"""Maximum number of problems that one error has as values."""


@dataclass(frozen=True, slots=True)
class Where(Viewed):
    """The place of a problem; a part that is not known is None.

    `file` is the name of the source, as messages have it ("records" and "laws" for what was passed in Python); `row`
    is the row or the line as a person counts it, and `column` the name of the column. `event` is the text of the
    event or statement, and `span` the part of it: the first character, counted from 0, and the one after the last.
    `field` is the path of a value in a JSON record or in the body of a request, such as "forecasts[3].event".

    >>> Where("panel.csv", 7, "probability")
    Where(file='panel.csv', row=7, column='probability')
    """

    file: str | None = None
    row: int | str | None = None
    column: str | None = None
    event: str | None = None
    span: tuple[int, int] | None = None
    field: str | None = None

    @property
    def words(self) -> str:
        """The source with its row and column, as messages begin.

        >>> Where("panel.csv", 7, "probability").words
        'panel.csv row 7, column probability'
        """
        row = f"{self.file} row {self.row}"
        if self.column is None:
            return row
        return f"{row}, column {self.column}" if self.column else f"{row}, first column"

    def field_in(self, body: str = "", record: str = "") -> str | None:
        """The path of the place in a body that has `forecasts` and `laws`; `record` is where a record is in it.

        >>> Where("records", 2, "probability").field_in("body."), Where("laws", 1).field_in()
        ('body.forecasts.1.probability', 'laws.0')
        """
        if self.field is not None:
            return f"{record}{self.field}"
        rows = {"records": "forecasts", "laws": "laws"}
        if self.file in rows and isinstance(self.row, int):
            column = self.column or ("event" if self.file == "records" and self.event else None)
            return body + ".".join(filter(None, [rows[self.file], str(self.row - 1), column]))
        return f"{body}{self.file}" if self.file in ("outcomes", "weights") else None

    def as_dict(self) -> dict[str, Any]:
        """All parts by name, as JSON has them."""
        return {name: list(value) if name == "span" and value else value for name, value in asdict(self).items()}

    def __repr__(self) -> str:
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return f"Where({', '.join(f'{name}={value!r}' for name, value in known.items())})"


@dataclass(frozen=True, slots=True)
class ListedProblem(Viewed):
    """One thing that is wrong: what (`message`), its kind (`code`), its place, and what to do about it."""

    message: str
    code: str
    where: Where | None = None
    remedy: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, as JSON has them."""
        place = None if self.where is None else self.where.as_dict()
        return {"code": self.code, "message": self.message, "where": place, "remedy": self.remedy}


class CoherentlyError(Exception):
    """The base of every error that Coherently raises on purpose.

    The message says everything to a person. A program reads `code`, a word for the kind of problem that stays as it
    is, `where`, a `co.Where` (None if the problem has no place), and `remedy`, what to do (None where only the message
    says it). An error that lists several problems has the first 1,000 of them in `problems`, and `code`, `where` and
    `remedy` are those of the first; any other error is its own only problem.

    >>> import coherently as co
    >>> try:
    ...     co.Panel.from_records([("Ann", "p", 0.2), ("Ann", "q", 1.2), ("Bob", "q", -1)])
    ... except co.PanelError as error:
    ...     print(error.code, error.where, [problem.where.row for problem in error.problems])
    bad-probability Where(file='records', row=2, column='probability') [2, 3]
    """

    code: str = "refused"
    where: Where | None = None
    remedy: str | None = None
    _problems: tuple[ListedProblem, ...] = ()

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        where: Where | None = None,
        remedy: str | None = None,
        problems: Sequence[ListedProblem] = (),
    ) -> None:
        super().__init__(message)
        if problems:
            first = problems[0]
            self._problems = tuple(problems[:KEPT])
            code, where, remedy = code or first.code, where or first.where, remedy or first.remedy
        given = {"code": code, "where": where, "remedy": remedy}
        self.__dict__.update({name: value for name, value in given.items() if value is not None})

    @classmethod
    def listing(cls, problems: Sequence[ListedProblem], total: int | None = None, remedies: Iterable[str] = ()) -> Self:
        """An error that lists problems, of which there are `total`, and then what to do about all of them."""
        shown = summarise([problem.message for problem in problems], total)
        return cls("\n".join([shown, *remedies]), problems=problems)

    @property
    def problems(self) -> tuple[ListedProblem, ...]:
        """Everything that is wrong, at most the first 1,000; at least one."""
        return self._problems or (ListedProblem(str(self), self.code, self.where, self.remedy),)

    @property
    def complaint(self) -> str:
        """The first line of the message without its place, for doors that show the place otherwise, or need not.

        >>> PanelError("records row 2: no judge", where=Where("records", 2)).complaint
        'no judge'
        """
        said = str(self).partition("\n")[0]
        if self.where is None or self.where.row is None:
            return said
        return said.removeprefix(f"{self.where.words}: ").removeprefix(f"{replace(self.where, column=None).words}: ")

    def moved(self, place: Callable[[Where], Where]) -> Self:
        """The same error with other places: those of a door that sent the values on."""
        found = copy(self)
        found._problems = tuple(
            each if each.where is None else replace(each, where=place(each.where)) for each in self.problems
        )
        if self.where is not None:
            found.where = place(self.where)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors cross processes with all that they say, whatever their constructors take."""
        return _made_again, (type(self), self.args, self.__dict__)

    def as_dict(self) -> dict[str, Any]:
        """The error as JSON has it: code, message, where, remedy and problems."""
        told = ListedProblem(str(self), self.code, self.where, self.remedy).as_dict()
        return told | {"problems": [problem.as_dict() for problem in self.problems]}


def _made_again(kind: type[CoherentlyError], args: tuple[Any, ...], fields: dict[str, Any]) -> CoherentlyError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class EventError(CoherentlyError):
    """An event text cannot be read."""

    code = "bad-event"


class PanelError(CoherentlyError):
    """A panel, or something that belongs to it (laws, outcomes, labels), cannot be used as it is."""

    code = "bad-panel"


class ContradictionError(PanelError):
    """Laws contradict each other; the message lists a minimal set of them, and `problems` has one entry for each."""

    code = "contradictory-laws"


class MethodError(CoherentlyError):
    """A method or an option does not exist or does not fit the panel."""

    code = "bad-option"


class ResultError(CoherentlyError):
    """A result cannot be read, or does not promise what was asked of it."""

    code = "bad-result"


class EngineError(CoherentlyError):
    """Work cannot run where it was asked to, or was lost there.

    `keep` has the components that were finished, or names their file: the same call with `keep=error.keep` goes on from
    there.
    """

    code = "engine-failed"
    keep: Any = None


class NetworkError(CoherentlyError):
    """A network cannot run as asked, or a file of one of its nodes cannot be used."""

    code = "network-failed"


class MissingDependencyError(CoherentlyError):
    """An optional package is needed but not installed."""

    code = "not-installed"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun; the plural has an s, unless it is given.

    >>> counted(1, "row"), counted(2000, "row"), counted(2, "time series", "time series")
    ('1 row', '2,000 rows', '2 time series')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def summarise(problems: Sequence[str], total: int | None = None) -> str:
    """Join the first problems, one per line, and say how many there are if not all are shown.

    `total` is the true count if `problems` is already shortened.
    """
    count = len(problems) if total is None else total
    shown = list(problems[:SHOWN])
    if count > len(shown):
        shown.append(f"... and {count - len(shown):,} more ({count:,} in all)")
    return "\n".join(shown)


def unknown_word(
    what: str,
    word: object,
    words: Iterable[str],
    plural: str | None = None,
    more: str = "",
    error: type[CoherentlyError] = MethodError,
) -> CoherentlyError:
    """A word that stands for nothing: which there are, and which may have been meant.

    >>> error = unknown_word("loss", "bier", ["brier", "log"], "losses")
    >>> print(error)
    unknown loss 'bier'; the losses are brier, log. Did you mean 'brier'?
    >>> error.code, error.remedy
    ('unknown-loss', "Did you mean 'brier'?")
    """
    known = list(words)
    hint = did_you_mean(word, known)
    return error(
        f"unknown {what} {word!r}; the {plural or f'{what}s'} are {', '.join(known)}{more}.{hint}",
        code=f"unknown-{what.replace(' ', '-')}",
        remedy=hint.strip() or None,
    )


def did_you_mean(word: object, words: Iterable[str]) -> str:
    """Ask whether the word was meant that is spelt most nearly like this one; nothing if none is.

    >>> did_you_mean("bier", ["brier", "log"]), did_you_mean("linear", ["brier", "log"])
    (" Did you mean 'brier'?", '')
    """
    close = difflib.get_close_matches(str(word), list(words), 1)
    return f" Did you mean {close[0]!r}?" if close else ""
