"""A panel from a file: a table of forecasts as people have it, or an archive of a panel."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coherently.errors import PanelError
from coherently.panel.worksheets import ReadingChoices, count_columns, look_at_table
from coherently.web import sizes
from coherently.web.operations.panel_operations import own_panel, view_panel
from coherently.web.operations.privacy import refuse_while_private
from coherently.web.operations.questions import check_meaning, setting_of
from coherently.web.refusals import RefusedError, too_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coherently.panel import Panel
    from coherently.panel.worksheets import ReadingAnswer, TableReading
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import PanelView

ASKED = frozenset({"unclear-columns", "unclear-sheet", "unknown-sheet", "missing-column", "no-rows", "bad-header"})
"""Codes of errors that are questions: somebody who sees the first rows can answer them."""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """What a table says: judges, texts of events, and a row (judge, event, probability) per forecast, by number.

    `titles` are the events as people wrote them, `reasons` what a comment says beside a forecast, by judge and event,
    `names` the names in the events with how many events use each, `notes` and `reading` how the file was read.
    """

    judges: tuple[str, ...]
    events: tuple[str, ...]
    rows: tuple[tuple[int, int, float], ...]
    titles: tuple[str, ...] = ()
    reasons: Mapping[tuple[int, int], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reading: TableReading | None = None
    names: tuple[tuple[str, int], ...] = ()

    def title(self, event: int) -> str:
        """What an event is called, by its number."""
        return self.titles[event] if self.titles else self.events[event]


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A file that is read once a question is answered: the question, its answers, and what is seen of the file."""

    question: str
    answers: tuple[ReadingAnswer, ...]
    reading: TableReading


def file_name(sent: str) -> str:
    """The name of a file that somebody sent, without folders and odd characters."""
    return re.sub(r"[^\w.()+ -]", "_", sent.replace("\\", "/").rsplit("/", 1)[-1])[-100:].strip() or "panel.csv"


@contextmanager
def _kept(data: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / file_name(name)
        file.write_bytes(data)
        yield file


def read_or_ask_bytes(data: bytes, name: str, said: Mapping[str, Any], seconds: float) -> ReadTable | AskedTable:
    """Read a file, or say what has to be answered first; this runs in a process of its own."""
    try:
        table = read_table_bytes(data, name, said, seconds)
    except PanelError as error:
        with _kept(data, name) as file:
            seen = look_at_table(file, _choices(said)) if error.code in ASKED else None
        if seen is None:
            raise
        question = getattr(error, "question", "") or error.complaint.removeprefix(f"{seen.source}: ")
        return AskedTable(question, getattr(error, "answers", ()), seen)
    if table.reading is not None and not table.reading.sample:
        with _kept(data, name) as file:
            seen = look_at_table(file, _choices(said))
        if seen is not None and len(seen.columns) == len(table.reading.columns):
            return replace(table, reading=replace(table.reading, sample=seen.sample, header_row=seen.header_row))
    return table


def _choices(said: Mapping[str, Any]) -> ReadingChoices:
    told = {name: said.get(name) for name in ("sheet", "header", "separator", "encoding")}
    return ReadingChoices({}, told["sheet"], told["header"], separator=told["separator"], encoding=told["encoding"])


def read_table_bytes(data: bytes, name: str, said: Mapping[str, Any], _seconds: float) -> ReadTable:
    """Read a file; this runs in a process of its own, with limits of its own. `said` are options of `read_panel`."""
    from coherently.panel import read_panel

    with _kept(data, name) as file:
        _check_width(count_columns(file))
        try:
            panel = read_panel(file, **said)
        except RecursionError:
            raise RefusedError(422, "not-usable", "The table cannot be read.") from None
    _check_usable(panel)
    places = zip(panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability.tolist(), strict=True)
    titles = tuple(panel.labels.get(text, text) for text in panel.written.text)
    return ReadTable(
        tuple(panel.judges),
        tuple(panel.written.text),
        tuple(places),
        titles,
        reasons=_reasons(panel, titles),
        notes=panel.notes,
        reading=panel.reading,
        names=_names(panel),
    )


def _names(panel: Panel) -> tuple[tuple[str, int], ...]:
    """The variables of a table, each with the number of events that use it."""
    count = Counter[int]()
    for sides in zip(panel.written.event.tolist(), panel.written.condition.tolist(), strict=True):
        _, members = panel.events.supports(np.array(sides, np.int32) // 2)
        count.update(set(members.tolist()))
    return tuple((name, count[number]) for number, name in enumerate(panel.events.variables) if count[number])


def _reasons(panel: Panel, titles: tuple[str, ...]) -> dict[tuple[int, int], str]:
    """The reasons of judges, by the numbers of judge and event; what nobody in particular says is not one."""
    kept = () if panel.reading is None else panel.reading.reasons
    judges = {name: number for number, name in enumerate(panel.judges)}
    events = {title: number for number, title in enumerate(titles)}
    return {
        (judges[each.judge], events[each.event]): each.text[: sizes.NOTE]
        for each in kept
        if each.judge in judges and each.event in events
    }


def _check_width(columns: int) -> None:
    if columns > sizes.COLUMNS:
        raise RefusedError(
            413,
            "too-many-columns",
            f"The table has {columns:,} columns.",
            where="body",
            allowed=f"at most {sizes.COLUMNS:,} columns",
            remedy="Import a part of it, or use the library.",
        )


def _check_usable(panel: Panel) -> None:
    if panel.lower is not None or panel.upper is not None:
        raise RefusedError(
            422,
            "not-usable",
            "The table has intervals or quotes, which the workbench does not keep.",
            where="body",
            allowed="one probability in each row, or one column per judge",
            remedy="Give one probability instead of lower and upper bounds.",
        )
    if len(panel) > sizes.ROWS:
        raise RefusedError(
            413,
            "too-many-rows",
            f"The table has {len(panel):,} forecasts.",
            where="body",
            allowed=f"at most {sizes.ROWS:,} forecasts",
            remedy="Import a part of it, or use the library.",
        )


def import_table(bench: Workbench, caller: AccountCaller, table: ReadTable, title: str) -> PanelView:
    """Make a panel of a table: one question per event, and judges without links; all of it or nothing."""
    limits = bench.settings.limits
    if len(table.events) > limits.questions:
        raise too_many("questions", limits.questions, "Import a part of the table.")
    if len(table.judges) > limits.judges:
        raise too_many("judges", limits.judges, "Import a part of the table.")
    store = bench.store
    _check_texts(table)

    def action() -> PanelView:
        from coherently.web.store import AnswerGiven

        panel = store.panels.create(caller.account, title)
        judges = [store.judges.add(panel.id, name).id for name in table.judges]
        events = [_add_question(bench, panel.id, text, table.title(i)) for i, text in enumerate(table.events)]
        answers: dict[int, list[AnswerGiven]] = {}
        for judge, event, probability in table.rows:
            reason = table.reasons.get((judge, event), "")
            answers.setdefault(judge, []).append(AnswerGiven(events[event], probability, reason=reason))
        for judge, given in answers.items():
            store.forecasts.record(judges[judge], given, phases=None)
        return view_panel(bench, panel)

    return store.write(action)


def add_table(bench: Workbench, caller: AccountCaller, panel: str, table: ReadTable) -> tuple[int, int]:
    """Ask what a table asks and is not asked yet, add its judges and numbers: how many questions and numbers."""
    from coherently.web.store import AnswerGiven

    own_panel(bench, caller, panel)
    setting = setting_of(bench, panel)
    events = {item.event: item.id for item in setting.items}
    new = [text for text in table.events if text not in events]
    most = bench.settings.limits.questions
    if len(setting.items) + len(new) > most:
        raise too_many("questions", most, "Import a part of the table.")
    check_meaning([*events, *new], setting.laws)
    store = bench.store

    def action() -> tuple[int, int]:
        named = {text: table.title(i) for i, text in enumerate(table.events)}
        events.update({text: _add_question(bench, panel, text, named[text]) for text in new})
        known = {each.name: each.id for each in store.judges.list(panel)}
        given: dict[int, list[AnswerGiven]] = {}
        for judge, event, value in table.rows:
            reason = table.reasons.get((judge, event), "")
            given.setdefault(judge, []).append(AnswerGiven(events[table.events[event]], value, reason=reason))
        for judge, answers in given.items():
            name = table.judges[judge]
            store.forecasts.record(known.get(name) or store.judges.add(panel, name).id, answers, phases=None)
        return len(new), len(table.rows)

    return store.write(action)


def _add_question(bench: Workbench, panel: str, text: str, words: str) -> str:
    kind = "conditional" if " given " in text else "yes-no"
    title = words if len(words) <= sizes.TITLE else words[: sizes.TITLE - 1] + "…"
    question = bench.store.questions.add(panel, kind, title, [(text, "")])  # type: ignore[arg-type]
    return question.events[0].id


def _check_texts(table: ReadTable) -> None:
    for kind, texts, most in (("judge", table.judges, sizes.TITLE), ("event", table.events, sizes.EVENT)):
        for text in texts:
            if len(text) > most or not text.strip() or any(ord(character) < 32 for character in text):
                raise RefusedError(
                    422,
                    "not-usable",
                    f"The table has a {kind} {text[:40]!r}.",
                    where="body",
                    allowed=f"one line of at most {most:,} characters",
                    remedy="Change the table.",
                )


def import_archive(bench: Workbench, caller: AccountCaller, data: bytes) -> PanelView:
    """Make a panel of an archive, as `GET /panels/{panel}/archive` gives it."""
    return view_panel(bench, bench.store.archive.import_panel(data, caller.account))


def export_archive(bench: Workbench, caller: AccountCaller, panel: str) -> bytes:
    """The whole panel as one archive, once no judge's numbers are private."""
    own_panel(bench, caller, panel)
    refuse_while_private(bench, panel)
    return bench.store.archive.export(panel)
