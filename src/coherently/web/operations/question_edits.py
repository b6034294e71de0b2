"""What is done to questions that are there: formulas and order change, one is copied, or asked again after all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from coherently.explain import judge_sheet as desk
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.questions import (
    check_meaning,
    check_room,
    in_draft,
    own_question,
    setting_of,
    statements_of,
    texts_of,
    view_question,
)
from coherently.web.refusals import RefusedError, not_found
from coherently.web.shapes.panel_shapes import EventEdit, LooseName, LooseNameList, QuestionEdit

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.shapes.panel_shapes import PlaceDraft, QuestionView

KEPT = "kept_names"
"""Where the settings of a panel hold the names that nothing else uses and that are meant so."""


def edit_question(
    bench: Workbench, caller: AccountCaller, panel: str, question: str, edit: QuestionEdit
) -> QuestionView:
    """Change words and formulas; a formula that somebody has answered stays."""
    old = own_question(bench, caller, panel, question)
    events = None if edit.events is None else [(each.id, each.event, each.title) for each in edit.events]
    if edit.events is not None or edit.declaration is not None:
        others = [each for each in bench.store.questions.list(panel) if each.id != question]
        texts = [text for _, text, _ in events] if events is not None else [each.event for each in old.events]
        laws = statements_of(others, bench.store.laws.list(panel))
        before = texts_of(others)
        fields = {("laws", len(laws)): "body.declaration"}
        fields |= {("records", len(before) + i): f"body.events.{i}.event" for i in range(len(texts))}
        with in_draft(fields):
            check_meaning([*before, *texts], [*laws, *filter(None, [edit.declaration or old.declaration])])
    record = bench.store.questions.edit(
        question, edit.title, edit.definition, edit.group, declaration=edit.declaration, events=events
    )
    return view_question(record)


def move_question(
    bench: Workbench, caller: AccountCaller, panel: str, question: str, draft: PlaceDraft
) -> QuestionView:
    """Put a question at another place; the others close up, and answers stay with their questions."""
    own_question(bench, caller, panel, question)
    return view_question(bench.store.questions.move(question, draft.number))


def copy_question(bench: Workbench, caller: AccountCaller, panel: str, question: str) -> QuestionView:
    """Ask the same once more, right after it, as a beginning of something else; the variable is declared once."""
    old = own_question(bench, caller, panel, question)

    def action() -> QuestionView:
        check_room(bench, bench.store.questions.list(panel), len(old.events))
        events = [(event.event, event.title) for event in old.events]
        made = bench.store.questions.add(
            panel,
            old.kind,  # type: ignore[arg-type]
            old.title,
            events,
            definition=old.definition,
            group=old.group,
        )
        return view_question(bench.store.questions.move(made.id, old.number + 1))

    return bench.store.write(action)


def restore_question(bench: Workbench, caller: AccountCaller, panel: str, question: str) -> QuestionView:
    """Ask a question again that was withdrawn, where it stood, with the answers that it had."""
    own_panel(bench, caller, panel)
    gone = bench.store.questions.get(question)
    if gone.panel != panel:
        raise not_found("question")
    if gone.withdrawn_at is None:
        return view_question(gone)
    standing = bench.store.questions.list(panel)
    check_room(bench, standing, len(gone.events))
    laws = statements_of([*standing, gone], bench.store.laws.list(panel))
    check_meaning(texts_of([*standing, gone]), laws)
    return view_question(bench.store.questions.restore(question))


def list_loose_names(bench: Workbench, caller: AccountCaller, panel: str) -> LooseNameList:
    """Names that only one question uses, and no law, but for those that were kept."""
    kept = own_panel(bench, caller, panel).settings.get(KEPT, [])
    wait = bench.settings.limits.page_seconds
    found = bench.desk.ask(f"{panel} names", wait, desk.loose_names, setting_of(bench, panel)) or ()
    return LooseNameList(names=[LooseName(**each.as_dict()) for each in found if each.name not in kept])


def correct_name(bench: Workbench, caller: AccountCaller, panel: str, name: str, meant: str) -> None:
    """Put the name that was meant in place of one that a single question uses."""
    own_panel(bench, caller, panel)
    found = next((each for each in desk.loose_names(setting_of(bench, panel)) if each.name == name), None)
    if found is None or found.near != meant:
        raise RefusedError(404, "not-found", f"No question alone uses the name {name!r}.")
    question = next(each for each in bench.store.questions.list(panel) if each.number == found.question)
    whole = re.compile(rf"(?<![\w.@:-]){re.escape(name)}(?!\w)")
    events = [
        EventEdit(id=each.id, event=whole.sub(lambda _: meant, each.event), title=each.title)
        for each in question.events
    ]
    edit_question(bench, caller, panel, question.id, edit=QuestionEdit(events=events))


def keep_name(bench: Workbench, caller: AccountCaller, panel: str, name: str) -> LooseNameList:
    """Remember that a name is meant although nothing else uses it."""

    def action() -> None:
        settings = own_panel(bench, caller, panel).settings
        if name not in {each.name for each in desk.loose_names(setting_of(bench, panel))}:
            raise RefusedError(404, "not-found", f"No question alone uses the name {name!r}.", where="body.name")
        kept = [*settings.get(KEPT, []), name]
        bench.store.panels.edit(panel, settings={**settings, KEPT: sorted(set(kept))})

    bench.store.write(action)
    return list_loose_names(bench, caller, panel)
