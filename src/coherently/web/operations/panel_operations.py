"""Panels of an account."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from coherently.web.access.request_keys import only_once
from coherently.web.refusals import not_found, too_many
from coherently.web.shapes.panel_shapes import PanelEdit, PanelList, PanelView, RoundView
from coherently.web.shapes.shape import zone_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import PanelDraft
    from coherently.web.store.store_records import PanelRecord, RoundRecord


ZONE = "time_zone"
"""Where the settings of a panel hold its time zone."""


def time_zone(record: PanelRecord) -> str:
    """The time zone in which the deadlines of a panel are told, by default that of this machine."""
    return str(record.settings.get(ZONE) or machine_zone())


@cache
def machine_zone() -> str:
    """The name of this machine's time zone; UTC if it cannot be told."""
    place = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    known = (name for name in (os.environ.get("TZ", "").lstrip(":"), place) if name in zone_names())
    return next(known, "UTC")


def own_panel(bench: Workbench, caller: AccountCaller, panel: str) -> PanelRecord:
    """The panel of an id, if it is the caller's; that of another is answered as if it did not exist."""
    record = bench.store.panels.get(panel)
    if record.owner != caller.account:
        raise not_found("panel")
    return record


def create_panel(bench: Workbench, caller: AccountCaller, draft: PanelDraft, key: str | None = None) -> PanelView:
    """Make a panel in its first, private round."""
    most = bench.settings.limits.panels

    def action() -> PanelView:
        if len(bench.store.panels.list(caller.account, limit=most)) >= most:
            raise too_many("panels", most, "Delete a panel that is no longer needed.")
        return view_panel(
            bench,
            bench.store.panels.create(
                caller.account, **_stored({"time_zone": machine_zone()} | draft.model_dump(exclude_none=True), {})
            ),
        )

    return only_once(bench, caller, "panels", key, draft=draft, action=action)


def list_panels(bench: Workbench, caller: AccountCaller, limit: int = 100, after: str | None = None) -> PanelList:
    """The panels of the account, the newest first; `after` is the id of the last one seen."""
    if after is not None:
        own_panel(bench, caller, after)
    found = bench.store.panels.list(caller.account, after=after, limit=limit)
    return PanelList(panels=[view_panel(bench, record) for record in found])


def get_panel(bench: Workbench, caller: AccountCaller, panel: str) -> PanelView:
    """One panel."""
    return view_panel(bench, own_panel(bench, caller, panel))


def edit_panel(bench: Workbench, caller: AccountCaller, panel: str, edit: PanelEdit) -> PanelView:
    """Change what is given."""

    def action() -> PanelView:
        old = own_panel(bench, caller, panel).settings
        return view_panel(bench, bench.store.panels.edit(panel, **_stored(edit.model_dump(), old)))

    return bench.store.write(action)


def _stored(said: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a panel, as its record has it: the time zone is one of its settings."""
    zone = said.pop("time_zone", None)
    return said if zone is None else said | {"settings": {**settings, ZONE: zone}}


def delete_panel(bench: Workbench, caller: AccountCaller, panel: str) -> None:
    """Hide a panel; the links of its judges end."""
    own_panel(bench, caller, panel)
    bench.store.panels.delete(panel)


def restore_panel(bench: Workbench, caller: AccountCaller, panel: str) -> PanelView:
    """Show a panel again that was put aside or deleted; the links of its judges hold again."""
    if panel not in {each.id for each in bench.store.panels.deleted(caller.account)}:
        return edit_panel(bench, caller, panel, PanelEdit(aside=False))
    return view_panel(bench, bench.store.panels.restore(panel))


def copy_panel(bench: Workbench, caller: AccountCaller, panel: str, draft: PanelDraft) -> PanelView:
    """Make a panel with the same questions and laws, and without judges and answers."""
    old, most, store = own_panel(bench, caller, panel), bench.settings.limits.panels, bench.store

    def action() -> PanelView:
        if len(store.panels.list(caller.account, limit=most)) >= most:
            raise too_many("panels", most, "Delete a panel that is no longer needed.")
        said = {"description": old.description, "tag": old.tag, "time_zone": time_zone(old)}
        said |= draft.model_dump(exclude_unset=True)
        made = store.panels.create(caller.account, **_stored(said, {})).id
        for each in store.questions.list(panel):
            events = [(event.event, event.title) for event in each.events]
            store.questions.add(
                made,
                each.kind,  # type: ignore[arg-type]
                each.title,
                events,
                definition=each.definition,
                group=each.group,
                declaration=each.declaration,
            )
        for law in store.laws.list(panel):
            store.laws.add(made, law.statement, law.title, law.origin)
        return view_panel(bench, store.panels.get(made))

    return store.write(action)


def view_panel(bench: Workbench, record: PanelRecord) -> PanelView:
    """A panel as it is answered."""
    store = bench.store

    def action() -> PanelView:
        return PanelView.of(
            record,
            created=record.created_at,
            time_zone=time_zone(record),
            questions=store.questions.count(record.id),
            laws=store.laws.count(record.id),
            judges=store.judges.count(record.id),
            round=view_round(store.rounds.current(record.id)),
        )

    return store.read(action)


def view_round(record: RoundRecord) -> RoundView:
    """A round as it is answered."""
    return RoundView.of(record, time=record.since)
