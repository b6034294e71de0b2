"""Questions and laws: what they mean together is tried out before anything is kept."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from coherently.errors import CoherentlyError
from coherently.explain import judge_sheet as desk
from coherently.explain.recent_values import Lately
from coherently.web.access.request_keys import only_once
from coherently.web.operations.panel_operations import own_panel
from coherently.web.refusals import RefusedError, not_finished, not_found, too_many
from coherently.web.shapes.panel_shapes import EventView, LawList, LawView, QuestionList, QuestionView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coherently.errors import Where
    from coherently.explain.judge_sheet import DraftReading, SheetSetting
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import LawDraft, QuestionDraft, ReadDraft
    from coherently.web.store.store_records import LawRecord, QuestionRecord

KEPT = 64
"""Number of settings that are kept."""


def list_questions(bench: Workbench, caller: AccountCaller, panel: str) -> QuestionList:
    """The questions of a panel, in their order."""
    own_panel(bench, caller, panel)
    return QuestionList(questions=[view_question(record) for record in bench.store.questions.list(panel)])


def add_question(
    bench: Workbench, caller: AccountCaller, panel: str, draft: QuestionDraft, key: str | None = None
) -> QuestionView:
    """Ask a question; its formulas must be readable together with all others."""
    own_panel(bench, caller, panel)
    questions, laws = bench.store.questions.list(panel), bench.store.laws.list(panel)
    texts = [*texts_of(questions), *(event.event for event in draft.events)]
    # Logic may take its time, so it is done before the transaction, which nobody else can write beside.
    statements = statements_of(questions, laws)
    fields = {("laws", len(statements)): "body.declaration"}
    before = len(texts) - len(draft.events)
    fields |= {("records", before + i): f"body.events.{i}.event" for i in range(len(draft.events))}
    with in_draft(fields):
        check_meaning(texts, [*statements, *filter(None, [draft.declaration])])

    def action() -> QuestionView:
        check_room(bench, bench.store.questions.list(panel), len(draft.events))
        record = bench.store.questions.add(
            panel,
            draft.kind,
            draft.title,
            [(event.event, event.title) for event in draft.events],
            draft.definition,
            draft.group,
            draft.declaration,
        )
        return view_question(record)

    return only_once(bench, caller, f"questions {panel}", key, draft=draft, action=action)


def withdraw_question(bench: Workbench, caller: AccountCaller, panel: str, question: str) -> None:
    """Ask it no longer; its answers are kept."""
    gone = own_question(bench, caller, panel, question)
    rest = [record for record in bench.store.questions.list(panel) if record.id != question]
    if gone.declaration is not None:
        _check_still_read(rest, bench.store.laws.list(panel))
    bench.store.questions.withdraw(question)


def own_question(bench: Workbench, caller: AccountCaller, panel: str, question: str) -> QuestionRecord:
    """A question of the caller's panel."""
    own_panel(bench, caller, panel)
    record = bench.store.questions.get(question)
    if record.panel != panel or record.withdrawn_at is not None:
        raise not_found("question")
    return record


def list_laws(bench: Workbench, caller: AccountCaller, panel: str) -> LawList:
    """The laws of a panel, and what follows without any law."""
    own_panel(bench, caller, panel)
    records = bench.store.laws.list(panel)
    follows = bench.desk.ask(panel, bench.settings.limits.page_seconds, desk.follows, setting_of(bench, panel))
    laws = [view_law(record) for record in records]
    return LawList(laws=laws, follows=None if follows is None else list(follows))


def add_law(bench: Workbench, caller: AccountCaller, panel: str, draft: LawDraft, key: str | None = None) -> LawView:
    """Add a law; it must be readable and go together with the others."""
    own_panel(bench, caller, panel)
    questions, laws = bench.store.questions.list(panel), bench.store.laws.list(panel)
    statements = statements_of(questions, laws)
    with in_draft({("laws", len(statements)): "body.statement"}):
        check_meaning(texts_of(questions), [*statements, draft.statement])
    most = bench.settings.limits.laws

    def action() -> LawView:
        if len(bench.store.laws.list(panel)) >= most:
            raise too_many("laws", most, "Drop a law that is no longer needed.")
        return view_law(bench.store.laws.add(panel, draft.statement, draft.title))

    return only_once(bench, caller, f"laws {panel}", key, draft=draft, action=action)


def replace_laws(bench: Workbench, caller: AccountCaller, panel: str, drafts: Sequence[LawDraft]) -> tuple[int, int]:
    """Let exactly these laws hold, all of it or nothing: how many are new, and how many hold no longer."""
    own_panel(bench, caller, panel)
    questions = bench.store.questions.list(panel)
    declared, most = statements_of(questions, ()), bench.settings.limits.laws
    with in_draft({("laws", len(declared) + i): f"body.{i}.statement" for i in range(len(drafts))}):
        check_meaning(texts_of(questions), [*declared, *(draft.statement for draft in drafts)])
    if len(drafts) > most:
        raise too_many("laws", most, "Drop a law that is no longer needed.")

    def action() -> tuple[int, int]:
        wanted = {(draft.statement, draft.title) for draft in drafts}
        laws = bench.store.laws.list(panel)
        standing = {(law.statement, law.title) for law in laws}
        gone = [law.id for law in laws if (law.statement, law.title) not in wanted]
        new = [(draft.statement, draft.title) for draft in drafts if (draft.statement, draft.title) not in standing]
        for law in gone:
            bench.store.laws.drop(law)
        for statement, title in new:
            bench.store.laws.add(panel, statement, title)
        return len(new), len(gone)

    return bench.store.write(action)


def drop_law(bench: Workbench, caller: AccountCaller, panel: str, law: str) -> None:
    """Let a law hold no longer; it is kept, with the time."""
    own_panel(bench, caller, panel)
    record = bench.store.laws.get(law)
    if record.panel != panel or record.dropped_at is not None:
        raise not_found("law")
    rest = [each for each in bench.store.laws.list(panel) if each.id != law]
    _check_still_read(bench.store.questions.list(panel), rest)
    bench.store.laws.drop(law)


def read_draft(bench: Workbench, caller: AccountCaller, panel: str, draft: ReadDraft) -> DraftReading:
    """What a text means that somebody is still typing, or why it cannot be read."""
    own_panel(bench, caller, panel)
    setting, wait = setting_of(bench, panel), bench.settings.limits.page_seconds
    found = bench.desk.ask(f"{panel} drafts", wait, desk.read_draft, setting, draft.text, draft.kind)
    if found is None:
        raise not_finished("The draft is still being read.")
    return found


def setting_of(bench: Workbench, panel: str) -> SheetSetting:
    """The events and laws of a panel, as the desk takes them."""
    return as_setting(bench.store.questions.list(panel), bench.store.laws.list(panel))


def as_setting(questions: Iterable[QuestionRecord], laws: Iterable[LawRecord]) -> SheetSetting:
    """Questions and laws, as the desk takes them; of the same two lists the same value."""
    questions, laws = tuple(questions), tuple(laws)
    key = id(questions), id(laws)  # what is kept holds both lists, so that the numbers stay theirs
    known = _SETTINGS.get(key)
    if known is None:
        known = _SettingOfLists(questions, laws, _as_setting(questions, laws))
        _SETTINGS.put(key, known)
    return known.setting


class _SettingOfLists(NamedTuple):
    questions: tuple[QuestionRecord, ...]
    laws: tuple[LawRecord, ...]
    setting: SheetSetting


_SETTINGS: Lately[_SettingOfLists] = Lately(KEPT)


def _as_setting(questions: tuple[QuestionRecord, ...], laws: tuple[LawRecord, ...]) -> SheetSetting:
    items = tuple(
        desk.Item(
            event.id,
            event.event,
            event.title or question.title,
            question.number,
            topic=question.title if len(question.events) > 1 else "",
        )
        for question in questions
        for event in question.events
    )
    return desk.SheetSetting(items, tuple(statements_of(questions, laws)))


@contextmanager
def in_draft(fields: dict[tuple[str, int], str]) -> Iterator[None]:
    """Name the fields of a draft in errors: `fields` has them by source and place among all texts, from 0."""

    def placed(where: Where) -> Where:
        row = where.row - 1 if isinstance(where.row, int) else -1
        return replace(where, field=fields.get((where.file or "", row)))

    try:
        yield
    except CoherentlyError as error:
        raise error.moved(placed) from None


def check_meaning(texts: Sequence[str], laws: Sequence[str]) -> None:
    """Refuse events and laws that cannot be read, or laws that contradict each other."""
    from coherently.panel import Panel

    # A panel of any numbers reads texts and laws as that of the judges' answers will.
    Panel.from_records([("somebody", text, 0.5) for text in texts] or [("somebody", "true", 1.0)], laws=list(laws))


def _check_still_read(questions: Sequence[QuestionRecord], laws: Sequence[LawRecord]) -> None:
    try:
        check_meaning(texts_of(questions), statements_of(questions, laws))
    except CoherentlyError as error:
        raise RefusedError(
            409,
            "still-needed",
            f"Other questions or laws need it: {error}",
            remedy="Withdraw those first.",
        ) from None


def check_room(bench: Workbench, questions: Sequence[QuestionRecord], more: int) -> None:
    """Refuse a question with so many events if there would be too many."""
    limits = bench.settings.limits
    events = sum(len(question.events) for question in questions)
    remedy = "Withdraw a question that is no longer needed, or ask this one in another panel."
    if len(questions) >= limits.questions:
        found = f"The panel has {len(questions):,} questions, and this would be one more."
        raise too_many("questions", limits.questions, remedy, found)
    if events + more > limits.events:
        found = f"The panel has {events:,} events, and this question would bring {more:,} more."
        raise too_many("events", limits.events, remedy, found)


def texts_of(questions: Iterable[QuestionRecord]) -> list[str]:
    """The texts of all events of some questions."""
    return [event.event for question in questions for event in question.events]


def statements_of(questions: Iterable[QuestionRecord], laws: Iterable[LawRecord]) -> list[str]:
    """What holds: the declarations that questions bring along, and the laws."""
    declared = (question.declaration for question in questions)
    return [*filter(None, declared), *(law.statement for law in laws)]


def view_question(record: QuestionRecord) -> QuestionView:
    """A question as it is answered."""
    return QuestionView.of(record, events=[EventView.of(event) for event in record.events])


def view_law(record: LawRecord) -> LawView:
    """A law as it is answered."""
    return LawView.of(record, time=record.added_at)
