"""Which events to ask about next: those whose answer would say most."""

from coherently.explain.next_questions.candidate_events import suggested
from coherently.explain.next_questions.question_order import NextQuestions, OpenQuestion, ask_next

__all__ = ["NextQuestions", "OpenQuestion", "ask_next", "suggested"]
