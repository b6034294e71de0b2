"""Files that forms send: tables of forecasts, and archives of panels."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from coherently.web import sizes
from coherently.web.operations.imports import import_archive, import_table, read_table_bytes
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.questions import check_meaning, setting_of
from coherently.web.refusals import too_many
from coherently.web.store import AnswerGiven

if TYPE_CHECKING:
    from coherently.web.operations.imports import ReadTable
    from coherently.web.pages.visits import SentFile, Visit
    from coherently.web.shapes.panel_shapes import PanelView
    from coherently.web.store import Store

ZIP = b"PK"
"""How an archive begins."""


def panel_of_file(visit: Visit, sent: SentFile) -> PanelView:
    """A new panel of a table or an archive."""
    if sent.content.startswith(ZIP):
        return import_archive(visit.bench, visit.caller, sent.content)
    title = PurePath(sent.name.replace("\\", "/")).stem.strip()[: sizes.TITLE] or "CSV"
    return import_table(visit.bench, visit.caller, _table(visit, sent), title)


def file_into_panel(visit: Visit, panel: str, sent: SentFile) -> tuple[int, int]:
    """Ask what a table asks and is not asked yet, add its judges and numbers: how many questions and numbers."""
    own_panel(visit.bench, visit.caller, panel)
    table = _table(visit, sent)
    setting = setting_of(visit.bench, panel)
    events = {item.event: item.id for item in setting.items}
    new = [text for text in table.events if text not in events]
    most = visit.bench.settings.limits.questions
    if len(setting.items) + len(new) > most:
        raise too_many("questions", most, "Import a part of the table.")
    check_meaning([*events, *new], setting.laws)
    store = visit.bench.store
    return store.write(lambda: _add(store, panel, table, events, new))


def _add(store: Store, panel: str, table: ReadTable, events: dict[str, str], new: list[str]) -> tuple[int, int]:
    for text in new:
        kind = "conditional" if " given " in text else "yes-no"
        events[text] = store.questions.add(panel, kind, text[: sizes.TITLE], [(text, "")]).events[0].id  # type: ignore[arg-type]
    known = {each.name: each.id for each in store.judges.list(panel)}
    given: dict[int, list[AnswerGiven]] = {}
    for judge, event, value in table.rows:
        given.setdefault(judge, []).append(AnswerGiven(events[table.events[event]], value))
    for judge, answers in given.items():
        name = table.judges[judge]
        store.forecasts.record(known.get(name) or store.judges.add(panel, name).id, answers, phases=None)
    return len(new), len(table.rows)


def _table(visit: Visit, sent: SentFile) -> ReadTable:
    """Read a table in a process of its own, within limits."""
    read: ReadTable = visit.request.app.state.calculator.call(read_table_bytes, sent.content)
    return read
