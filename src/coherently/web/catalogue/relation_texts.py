"""What is said about relations that the words of questions suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.web.catalogue.common_texts import Text

RELATIONS: dict[str, Text] = {
    "relations.title": "How the questions are related",
    "relations.lead": "What the words of the questions suggest. Nothing of it is used until you accept it; then it is a law.",
    "relations.waiting": ("{count} waits for you", "{count} wait for you"),
    "relations.none": "The words suggest nothing that is not known already.",
    "relations.done": "Nothing waits for a decision.",
    "relations.all": "All of them, and what was decided",
    "relations.more": ("{count} more waits on the page of relations.", "{count} more wait on the page of relations."),
    "relations.ask": "Only questions",
    "relations.ask.words": "The words are not enough for these. One becomes a law only if you say why it holds.",
    "relations.decided": "Decided",
    "relations.history": "All decisions",
    "relations.certain": "certain by its words",
    "relations.likely": "likely",
    "relations.ask.chip": "a question",
    "relations.conflict": "It contradicts another one that the words suggest: accept at most one of them.",
    "relations.assumes": "This assumes that {what}.",
    "relations.words": "Read from {words}.",
    "relations.judges": (
        "{some} of {count} judge who answered contradicts it.",
        "{some} of {count} judges who answered contradict it.",
    ),
    "relations.law": "As a law: ",
    "relations.reason": "Why (may stay empty)",
    "relations.reason.needed": "Why it holds",
    "relations.by": "Your name",
    "relations.accept": "It holds",
    "relations.accept.label": "It holds: {what}",
    "relations.reject": "It does not",
    "relations.reject.label": "It does not hold: {what}",
    "relations.edit": "Write another law instead",
    "relations.edit.law": "The law that holds",
    "relations.edit.accept": "Accept this law",
    "relations.same": "All questions are about the same occasion",
    "relations.same.words": "Some of these assume it. Say it once, and it is assumed no longer.",
    "relations.status.accepted": "Accepted by {by}.",
    "relations.status.rejected": "Rejected.",
    "relations.status.withdrawn": "Accepted once; the law is gone, or an outcome contradicts it.",
    "relations.taken": ("Decided. {count} law was added.", "Decided. {count} laws were added."),
    "relations.none_taken": "Decided.",
    "relations.decision.accept": "accepted",
    "relations.decision.reject": "rejected",
    "relations.decision.same occasion": "same occasion",
    "relations.who": "who",
    "relations.what": "what",
    "relations.when": "when",
    "relations.why": "why",
}
