"""Links by which anybody reads what came out of a panel, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherently.web.access.callers import LONGEST
from coherently.web.operations.aggregation_operations import view_aggregation
from coherently.web.operations.panel_operations import own_panel
from coherently.web.refusals import RefusedError
from coherently.web.shapes.aggregation_shapes import EventResult
from coherently.web.shapes.message_shapes import NewReportLink, ReportLinkList, ReportLinkView

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.aggregation_shapes import AggregationView
    from coherently.web.shapes.message_shapes import ReportLinkDraft
    from coherently.web.store import ReportLinkRecord


@dataclass(frozen=True, slots=True)
class SharedReport:
    """What a link shows: nothing yet, a whole report with names (`page`), or numbers without names (`events`)."""

    title: str
    version: AggregationView | None = None
    page: str = ""
    events: tuple[EventResult, ...] = ()


def make_report_link(
    bench: Workbench, caller: AccountCaller, panel: str, draft: ReportLinkDraft, *, origin: str
) -> NewReportLink:
    """Make a link to the report; it is shown this once."""
    own_panel(bench, caller, panel)
    record, secret = bench.store.report_links.make(panel, draft.note, with_names=draft.with_names)
    return NewReportLink(**_fields(record), link=f"{origin}/r/{secret}")


def list_report_links(bench: Workbench, caller: AccountCaller, panel: str) -> ReportLinkList:
    """The links to the report of a panel."""
    own_panel(bench, caller, panel)
    return ReportLinkList(links=[ReportLinkView(**_fields(each)) for each in bench.store.report_links.list(panel)])


def revoke_report_link(bench: Workbench, caller: AccountCaller, panel: str, link: str) -> None:
    """End a link to the report."""
    own_panel(bench, caller, panel)
    bench.store.report_links.revoke(panel, link)


def read_shared(bench: Workbench, secret: str) -> SharedReport:
    """What a link shows now: the newest finished version, once the panel is closed."""
    store = bench.store
    link = store.report_links.by_secret(secret) if len(secret) <= LONGEST else None
    if link is None:
        raise RefusedError(404, "not-let-in", "This link does not hold, or no longer.")
    title = store.panels.get(link.panel).title
    done = [each for each in store.aggregations.list(link.panel) if each.status == "done"]
    if not done or store.rounds.current(link.panel).phase != "closed":
        return SharedReport(title)
    version, kept = view_aggregation(done[-1]), store.aggregations.result(done[-1].id)
    if link.with_names:
        return SharedReport(title, version, page=kept["report"])
    return SharedReport(title, version, events=tuple(EventResult(**row) for row in kept["events"]))


def _fields(record: ReportLinkRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "note": record.note,
        "with_names": record.with_names,
        "created": record.created_at,
        "revoked": record.revoked_at,
    }
