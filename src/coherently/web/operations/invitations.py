"""Judges and rounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from coherently.web.access.request_keys import only_once
from coherently.web.operations.deadlines import in_words
from coherently.web.operations.panel_operations import own_panel, time_zone, view_round
from coherently.web.refusals import RefusedError, not_found, too_many
from coherently.web.shapes.judging_shapes import InvitedJudge, JudgeList, JudgeView, RoundList
from coherently.web.store.identifiers import now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.judging_shapes import JudgeDraft, RoundDraft
    from coherently.web.shapes.panel_shapes import RoundView
    from coherently.web.store.store_records import ForecastRecord, JudgeRecord


def list_judges(bench: Workbench, caller: AccountCaller, panel: str) -> JudgeList:
    """The judges of a panel, and how far they are."""
    own_panel(bench, caller, panel)
    return JudgeList(judges=view_judges(bench, panel, bench.store.forecasts.latest(panel)))


def view_judges(bench: Workbench, panel: str, standing: Sequence[ForecastRecord]) -> list[JudgeView]:
    """All judges as they are answered, with the number of their answers that stand."""
    store = bench.store
    answered = Counter(record.judge for record in standing)
    number = store.rounds.current(panel).number
    handed_in = {record.judge: record.time for record in store.judges.hand_ins(panel, number)}
    return [
        JudgeView.of(record, **_times(record), handed_in=handed_in.get(record.id), answered=answered[record.id])
        for record in store.judges.list(panel)
    ]


def view_judge(bench: Workbench, panel: str, judge: JudgeRecord) -> JudgeView:
    """One judge as answered."""
    own = bench.store.forecasts.latest(panel, judge.id)
    return next(each for each in view_judges(bench, panel, own) if each.id == judge.id)


def invite_judges(
    bench: Workbench, caller: AccountCaller, panel: str, drafts: Sequence[JudgeDraft]
) -> list[InvitedJudge]:
    """Add judges with links, all of them or none; their secrets are answered this once."""
    own_panel(bench, caller, panel)
    names = Counter(draft.name for draft in drafts)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        remedy = "Judges are told apart by their names: leave one out, or add something to it."
        raise RefusedError(409, "conflict", f"The name {twice!r} is there twice. Nobody was invited.", remedy=remedy)
    most = bench.settings.limits.judges

    def action() -> list[InvitedJudge]:
        if bench.store.judges.count(panel) + len(drafts) > most:
            raise too_many("judges", most, "Make a further panel.")
        return [_invited(*bench.store.judges.invite(panel, draft.name, draft.address)) for draft in drafts]

    return bench.store.write(action)


def invite_judge(
    bench: Workbench, caller: AccountCaller, panel: str, draft: JudgeDraft, key: str | None = None
) -> InvitedJudge:
    """Add a judge with a link, whose secret is answered this once, also to a request that is sent again."""
    return only_once(
        bench,
        caller,
        f"judges {panel}",
        key,
        draft=draft,
        action=lambda: invite_judges(bench, caller, panel, [draft])[0],
        kept=lambda invited: invited.model_copy(update={"secret": None, "link": None}),
    )


def renew_link(bench: Workbench, caller: AccountCaller, panel: str, judge: str) -> InvitedJudge:
    """A new link instead of the old one, which ends."""
    own_judge(bench, caller, panel, judge)
    secret = bench.store.judges.renew_link(judge)
    return _invited(bench.store.judges.get(judge), secret)


def revoke_link(bench: Workbench, caller: AccountCaller, panel: str, judge: str) -> None:
    """End a link; the answers are kept."""
    own_judge(bench, caller, panel, judge)
    bench.store.judges.revoke(judge)


def own_judge(bench: Workbench, caller: AccountCaller, panel: str, judge: str) -> JudgeRecord:
    """A judge of the caller's panel."""
    own_panel(bench, caller, panel)
    record = bench.store.judges.get(judge)
    if record.panel != panel:
        raise not_found("judge")
    return record


def list_rounds(bench: Workbench, caller: AccountCaller, panel: str) -> RoundList:
    """The phases so far; the last is the current one."""
    own_panel(bench, caller, panel)
    return RoundList(rounds=[view_round(record) for record in bench.store.rounds.list(panel)])


def advance_round(bench: Workbench, caller: AccountCaller, panel: str, draft: RoundDraft) -> RoundView:
    """Go on to a phase; when it closes lies ahead, unless it stays what it was."""
    known = own_panel(bench, caller, panel)
    present = bench.store.rounds.current(panel)
    if draft.closes_at is not None and draft.closes_at != present.closes_at and draft.closes_at <= now():
        raise RefusedError(
            422,
            "in-the-past",
            f"That end is over already: {in_words(draft.closes_at, time_zone(known))}.",
            where="body.closes_at",
            allowed="a time that lies ahead",
            remedy="Choose a later time, or none.",
        )
    record = bench.store.rounds.advance(panel, draft.phase, draft.closes_at, hide_numbers=draft.hide_numbers)
    return view_round(record)


def _invited(record: JudgeRecord, secret: str) -> InvitedJudge:
    return InvitedJudge.of(record, **_times(record), handed_in=None, answered=0, secret=secret, link=f"/j/{secret}")


def _times(record: JudgeRecord) -> dict[str, Any]:
    return {"invited": record.invited_at, "opened": record.opened_at, "revoked": record.revoked_at}
