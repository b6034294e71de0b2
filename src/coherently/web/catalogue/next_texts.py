"""What the pages say about the questions whose answers would say most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.web.catalogue.common_texts import Text

NEXT: dict[str, Text] = {
    "next.title": "What to ask next",
    "next.words": "What the answers leave open, and what contradictions hang on.",
    "next.more": "Which questions would say most",
    "next.none": "There is no aggregate yet, so nothing says what is open.",
    "next.refused": "This could not be calculated.",
    "next.about": "Answers should say most about",
    "next.about.all": "everything that is open",
    "next.about.contradictions": "contradictions of the averages",
    "next.about.event": "one event",
    "next.list": "The best question comes first",
    "next.open.all": (
        "The questions that were looked at are open by {count} point in all.",
        "The questions that were looked at are open by {count} points in all.",
    ),
    "next.open.event": (
        "Without its own answers, “{title}” is open by {count} point.",
        "Without its own answers, “{title}” is open by {count} points.",
    ),
    "next.open.contradictions": "The averages contradict each other. They hang on the questions below.",
    "next.best": "First of all: {title}.",
    "next.nothing.all": "No question that was looked at would say more than the answers so far.",
    "next.nothing.event": "No question that was looked at would say more about “{title}”.",
    "next.nothing.contradictions": "The averages do not contradict each other, so nobody needs to be asked again.",
    "next.gain": (
        "Its answer narrows that by {count} point on average.",
        "Its answer narrows that by {count} points on average.",
    ),
    "next.gain.small": "Its answer narrows that by less than a point on average.",
    "next.removes": "Another answer removes up to {share} of the contradiction.",
    "next.removes.small": "Another answer removes less than 1 % of the contradiction.",
    "next.alone": "Each number is for one answer alone: ask one question, then look again.",
    "next.foot": "Calculated from the forecasts and laws of version {version}. Answers of a round that is still open are not in it.",
}
