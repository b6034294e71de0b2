"""`/panels/{panel}/relations`: what the words of questions suggest, and decisions about it."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from coherently.web.api.dependencies import Bench, Facilitating, Key, PanelId, json_only
from coherently.web.operations import related_questions
from coherently.web.shapes.relation_shapes import RelationDraft, RelationList, RelationsDecided

router = APIRouter(prefix="/panels/{panel}/relations", tags=["relations"], dependencies=[Depends(json_only)])


@router.get("")
def list_relations(bench: Bench, caller: Facilitating, panel: PanelId) -> RelationList:
    """List the relations that the words of the questions suggest; only accepted ones are laws."""
    return related_questions.list_relations(bench, caller, panel)


@router.post("", status_code=201)
def decide_relation(
    bench: Bench, caller: Facilitating, panel: PanelId, draft: RelationDraft, key: Key = None
) -> RelationsDecided:
    """Accept or reject a family of relations, or say that all questions are about one occasion."""
    return related_questions.decide_relation(bench, caller, panel, draft, key=key)
