"""The event language: text in, numbered Boolean functions out. The only room that knows event text."""

from coherently.events.choices import Choice, Value
from coherently.events.event_table import CERTAIN, NEVER, Events, tidy
from coherently.events.event_words import in_words, words_or_none
from coherently.events.interpretation import Fault, Reading, quote_name
from coherently.events.packed import PackedTexts
from coherently.events.satisfaction import MAX_CONFLICTS, OPEN, UNDECIDED, entail, find_conflict, find_world
from coherently.events.spaced import parts

__all__ = [
    "CERTAIN",
    "MAX_CONFLICTS",
    "NEVER",
    "OPEN",
    "UNDECIDED",
    "Choice",
    "Events",
    "Fault",
    "PackedTexts",
    "Reading",
    "Value",
    "entail",
    "find_conflict",
    "find_world",
    "in_words",
    "parts",
    "quote_name",
    "tidy",
    "words_or_none",
]
