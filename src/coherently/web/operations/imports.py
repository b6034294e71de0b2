"""A panel from a file: a CSV of forecasts, or an archive of a panel."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.web import sizes
from coherently.web.operations.panel_operations import own_panel, view_panel
from coherently.web.operations.privacy import refuse_while_private
from coherently.web.operations.questions import check_meaning, setting_of
from coherently.web.refusals import RefusedError, too_many

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import PanelView


@dataclass(frozen=True, slots=True)
class ReadTable:
    """What a table says: judges, texts of events, and a row (judge, event, probability) per forecast, by number."""

    judges: tuple[str, ...]
    events: tuple[str, ...]
    rows: tuple[tuple[int, int, float], ...]


def read_table_bytes(data: bytes, _seconds: float) -> ReadTable:
    """Read a CSV; this runs in a process of its own, with limits of its own."""
    from coherently.panel import read_panel

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "panel.csv"
        file.write_bytes(data)
        try:
            panel = read_panel(file)
        except RecursionError:
            raise RefusedError(422, "not-usable", "The table cannot be read.") from None
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
    places = zip(panel.judge_index.tolist(), panel.event_index.tolist(), panel.probability.tolist(), strict=True)
    return ReadTable(tuple(panel.judges), tuple(panel.written.text), tuple(places))


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
        events = [_add_question(bench, panel.id, text) for text in table.events]
        answers: dict[int, list[AnswerGiven]] = {}
        for judge, event, probability in table.rows:
            answers.setdefault(judge, []).append(AnswerGiven(events[event], probability))
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
        events.update({text: _add_question(bench, panel, text) for text in new})
        known = {each.name: each.id for each in store.judges.list(panel)}
        given: dict[int, list[AnswerGiven]] = {}
        for judge, event, value in table.rows:
            given.setdefault(judge, []).append(AnswerGiven(events[table.events[event]], value))
        for judge, answers in given.items():
            name = table.judges[judge]
            store.forecasts.record(known.get(name) or store.judges.add(panel, name).id, answers, phases=None)
        return len(new), len(table.rows)

    return store.write(action)


def _add_question(bench: Workbench, panel: str, text: str) -> str:
    kind = "conditional" if " given " in text else "yes-no"
    title = text if len(text) <= sizes.TITLE else text[: sizes.TITLE - 1] + "…"
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
