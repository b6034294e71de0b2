"""Relations that the words of questions suggest: found by rules, and laws only after somebody accepts them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from coherently.events import quote_name
from coherently.explain import judge_sheet as desk
from coherently.proposals import (
    SAME_OCCASION,
    DecisionWord,
    Proposals,
    ProposalStatus,
    RelationDecision,
    ReviewState,
    accepted_laws,
    family_decisions,
    family_reviews,
    relate,
    relation_key,
    relation_sentence,
    told_relations,
)
from coherently.web import sizes
from coherently.web.access.request_keys import only_once
from coherently.web.operations.aggregation_operations import panel_inputs
from coherently.web.operations.panel_operations import own_panel
from coherently.web.operations.privacy import has_private
from coherently.web.operations.questions import as_setting, check_meaning, statements_of, texts_of, view_law
from coherently.web.refusals import RefusedError, too_many
from coherently.web.shapes.relation_shapes import DecisionView, FamilyView, RelationList, RelationsDecided, RelationView
from coherently.web.store.identifiers import now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coherently.explain.judge_sheet import SheetSetting
    from coherently.proposals import FamilyReview, LawLine, ProposedLaw
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.operations.imports import ReadTable
    from coherently.web.shapes.relation_shapes import RelationDraft
    from coherently.web.store.store_records import DecisionRecord, LawRecord, QuestionRecord

AskedRow = tuple[str, str, str]
"""The name of an event in laws, its words, and what counts."""


def list_relations(bench: Workbench, caller: AccountCaller, panel: str) -> RelationList:
    """What the words of the questions suggest, what was decided about it, and what waits."""
    own_panel(bench, caller, panel)
    decisions = bench.store.decisions.list(panel)
    found = _needed(_found(bench, panel, decisions), _setting(bench, panel))
    broken = {name for conflict in found.conflicts for name in conflict.proposals}
    families = [_view(review, found, broken) for review in family_reviews(found)]
    return RelationList(
        families=families,
        waiting=sum(each.state == "waiting" for each in families),
        same_occasion=any(SAME_OCCASION in one.assumes for one in found.undecided),
        notes=found.consequences(),
        decisions=[_view_decision(each) for each in reversed(decisions)],
    )


def relations_of_table(bench: Workbench, table: ReadTable) -> list[FamilyView]:
    """What the words of a table suggest that is not stored yet: doubtful ones first, and no mere questions."""
    if len(table.events) > bench.settings.limits.questions:
        return []
    asked = [(text, table.title(number), "") for number, text in enumerate(table.events)]
    setting = desk.SheetSetting(tuple(desk.Item(text, text, text, 1) for text in table.events))
    found = _needed(searched(named_rows(asked)), setting)
    broken = {name for conflict in found.conflicts for name in conflict.proposals}
    waiting = [review for review in family_reviews(found) if review.state is ReviewState.WAITING]
    return [_view(review, found, broken) for review in sorted(waiting, key=lambda one: -one.strength.rank)]


def decide_relation(
    bench: Workbench, caller: AccountCaller, panel: str, draft: RelationDraft, key: str | None = None
) -> RelationsDecided:
    """Decide about a family: what is accepted becomes laws, and laws that were accepted before may go."""
    own_panel(bench, caller, panel)
    found = _found(bench, panel, bench.store.decisions.list(panel))
    by = draft.by or caller.name
    made = _decisions(_needed(found, _setting(bench, panel)), draft, by)
    after = found.decided(made)
    if draft.decision == "accept":
        _check_taken(after, made)
    change = _law_change(bench, panel, found, after, made=made)
    return only_once(
        bench, caller, f"relations {panel}", key, draft=draft, action=lambda: _keep(bench, panel, made, change)
    )


@dataclass(frozen=True, slots=True)
class LawChange:
    """The laws that a decision adds, with their words, and those that it takes away."""

    new: tuple[LawLine, ...]
    titles: Mapping[str, str]
    gone: tuple[LawRecord, ...]


def _keep(bench: Workbench, panel: str, made: Sequence[RelationDecision], change: LawChange) -> RelationsDecided:
    store = bench.store
    for each in made:
        about = {"rule": each.rule, "relation": each.relation, "words": list(each.words), "source": each.source}
        store.decisions.record(panel, each.decision.value, about, decided_by=each.by, reason=each.reason, law=each.law)
    added = [store.laws.add(panel, line.text, change.titles.get(line.text, ""), line.comment) for line in change.new]
    for law in change.gone:
        store.laws.drop(law.id)
    return RelationsDecided(
        decisions=len(made), added=[view_law(law) for law in added], dropped=[law.id for law in change.gone]
    )


def _found(bench: Workbench, panel: str, decisions: Iterable[DecisionRecord]) -> Proposals:
    """The proposals with what was decided, and with what judges think of them unless that is private."""
    questions = bench.store.questions.list(panel)
    found = searched(asked_rows(questions)).decided(map(_decision, decisions))
    if has_private(bench, panel):
        return found
    inputs = panel_inputs(bench, panel)
    if not inputs["forecasts"]:
        return found
    from coherently.panel import Panel

    rows = [(each["judge"], each["event"], each["probability"]) for each in inputs["forecasts"]]
    outcomes = {event: value for event, value in inputs["outcomes"].items() if isinstance(value, bool)}
    declared = [each.declaration for each in questions if each.declaration]
    return found.on_panel(Panel.from_records(rows, laws=declared, outcomes=outcomes or None))


def asked_rows(questions: Iterable[QuestionRecord]) -> tuple[AskedRow, ...]:
    """The events of questions that rules may look at, with their words."""
    return named_rows(
        (event.event, question.title if len(question.events) == 1 else event.title, question.definition)
        for question in questions
        if question.declaration is None
        for event in question.events
    )


def named_rows(events: Iterable[AskedRow]) -> tuple[AskedRow, ...]:
    """The events that are single names, by these: what a formula means is known already."""
    bare = ((text.strip(), text.strip().removeprefix('"').removesuffix('"'), *more) for text, *more in events)
    return tuple((name, words or name, more) for text, name, words, more in bare if quote_name(name) == text)


@lru_cache(maxsize=50)
def searched(rows: tuple[AskedRow, ...]) -> Proposals:
    """What the rules find in the words of some questions."""
    named = {name: {"id": name, "text": text, "description": more or None} for name, text, more in rows}
    return relate(list(named.values()))


def _setting(bench: Workbench, panel: str) -> SheetSetting:
    return as_setting(bench.store.questions.list(panel), bench.store.laws.list(panel))


def _needed(found: Proposals, setting: SheetSetting) -> Proposals:
    """Without what nobody decided about and holds anyway; what was accepted and holds no longer is withdrawn."""
    holds = dict(zip(found.proposals, _needless(setting, tuple(one.law for one in found.proposals)), strict=True))
    kept = [one for one in found.proposals if one.status is not ProposalStatus.PROPOSED or not holds[one]]
    told = [
        replace(one, status=ProposalStatus.WITHDRAWN)
        if one.status is ProposalStatus.ACCEPTED and not holds[one]
        else one
        for one in kept
    ]
    return replace(found, proposals=tuple(told))


@lru_cache(maxsize=50)
def _needless(setting: SheetSetting, laws: tuple[str, ...]) -> tuple[bool, ...]:
    return desk.needless_laws(setting, laws)


def _decisions(found: Proposals, draft: RelationDraft, by: str) -> list[RelationDecision]:
    """What a draft decides, one for each relation of its family."""
    word, date = DecisionWord(draft.decision), now()[:10]
    if word is DecisionWord.SAME_OCCASION:
        return [RelationDecision(word, by, date, reason=draft.reason)]
    review = next((one for one in family_reviews(found) if one.key == draft.family), None)
    if review is None:
        raise RefusedError(
            409,
            "changed-meanwhile",
            "There is no such family of relations: questions or decisions may have changed.",
            where="body.family",
            remedy="Look at the list again.",
        )
    if draft.law is not None and word is not DecisionWord.ACCEPT:
        raise RefusedError(422, "not-usable", "A law of one's own goes with accepting it.", where="body.law")
    return family_decisions(
        review.proposals,
        found.questions,
        word=word,
        by=by,
        date=date,
        reason=draft.reason,
        law=draft.law or "",
    )


def _check_taken(after: Proposals, made: Sequence[RelationDecision]) -> None:
    """Refuse to accept what this decision cannot accept: a mere question without a reason."""
    if not any(one.status is ProposalStatus.ACCEPTED for one in _decided_about(after, made)):
        raise RefusedError(
            422,
            "needs-reason",
            "This is only a question: words alone do not settle it.",
            where="body.reason",
            remedy="Say why it holds, or reject it.",
        )


def _decided_about(found: Proposals, made: Sequence[RelationDecision]) -> list[ProposedLaw]:
    keys = {each.key for each in made}
    return [one for one in found.proposals if relation_key(one, found.questions) in keys]


def _law_change(
    bench: Workbench, panel: str, before: Proposals, after: Proposals, made: Sequence[RelationDecision]
) -> LawChange:
    """What a decision does to the laws; those that stay must go together with the new ones.

    A quantity is not declared here, unlike in a laws file: its name would be one that nobody of the panel chose.
    """
    questions, laws = bench.store.questions.list(panel), bench.store.laws.list(panel)
    decided = {one.id for one in _decided_about(after, made)}
    others = tuple(one for one in after.proposals if one.id not in decided)
    known = {law.statement for law in laws} | {line.text for line in accepted_laws(others, ())}
    lines = accepted_laws(after.proposals, ())
    new = tuple(line for line in lines if line.text not in known)
    lost = {line.text for line in accepted_laws(before.proposals, ())} - {line.text for line in lines}
    gone = tuple(law for law in laws if law.origin and law.statement in lost)
    left = [law for law in laws if law not in gone]
    if len(left) + len(new) > bench.settings.limits.laws:
        raise too_many("laws", bench.settings.limits.laws, "Drop a law that is no longer needed.")
    check_meaning(texts_of(questions), [*statements_of(questions, left), *(line.text for line in new)])
    return LawChange(new, _titles(after), gone)


def _titles(found: Proposals) -> dict[str, str]:
    """What laws say in people's words."""
    told = {one.law: relation_sentence(one, found.questions) for one in found.proposals}
    return {law: words for law, words in told.items() if len(words) <= sizes.TITLE}


def _decision(record: DecisionRecord) -> RelationDecision:
    about = record.about
    return RelationDecision(
        DecisionWord(record.decision),
        record.decided_by,
        record.time[:10],
        reason=record.reason,
        rule=about.get("rule", ""),
        relation=about.get("relation", ""),
        words=tuple(about.get("words", ())),
        law=record.law,
        source=about.get("source", ""),
    )


def _view(review: FamilyReview, found: Proposals, broken: set[str]) -> FamilyView:
    return FamilyView(
        family=review.key,
        state=review.state.value,
        strength=review.strength.value,
        in_conflict=any(one.id in broken for one in review.proposals),
        sentences=[relation_sentence(one, found.questions) for one in told_relations(review.proposals)],
        relations=[_view_relation(one, found) for one in review.proposals],
    )


def _view_relation(one: ProposedLaw, found: Proposals) -> RelationView:
    return RelationView(
        law=one.law,
        sentence=relation_sentence(one, found.questions),
        strength=one.strength.value,
        rule=one.rule,
        words=list(dict.fromkeys(quoted.words for quoted in one.evidence)),
        assumes=list(one.assumes),
        counterexample=one.counterexample,
        status=one.status.value,
        accepted_by=one.accepted_by,
        violated_by=None if one.panel is None else one.panel.violated_by,
        judges=None if one.panel is None else one.panel.of,
    )


def _view_decision(record: DecisionRecord) -> DecisionView:
    return DecisionView(
        decision=record.decision,  # type: ignore[arg-type]
        by=record.decided_by,
        reason=record.reason,
        law=record.law,
        words=list(record.about.get("words", ())),
        time=record.time,
    )
