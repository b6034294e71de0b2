"""What cannot be decided about a table is asked: an error that is a question, with the answers that there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coherently.errors import PanelError


@dataclass(frozen=True, slots=True)
class ReadingAnswer:
    """One answer: its words, and what it says of the file, as (role, names of columns), or as the name of a sheet.

    >>> ReadingAnswer("Name has the events", (("event", ("Name",)),)).option
    '--columns event=Name'
    """

    words: str
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sheet: str | None = None

    @property
    def option(self) -> str:
        """The same for the command line."""
        if self.sheet is not None:
            return f"--sheet {self.sheet!r}"
        return "--columns " + ",".join(f"{role}={name}" for role, names in self.columns for name in names)


class UnclearTableError(PanelError):
    """A question about a table; `question` is the question alone, and `answers` are those that it may have."""

    question: str = ""
    answers: tuple[ReadingAnswer, ...] = ()

    def __init__(
        self, message: str = "", *, question: str = "", answers: tuple[ReadingAnswer, ...] = (), **more: Any
    ) -> None:
        super().__init__(message, **more)
        self.question, self.answers = question, answers


def one_role(role: str, name: str, words: str) -> ReadingAnswer:
    """The answer that a column plays a role."""
    return ReadingAnswer(words, ((role, (name,)),))
