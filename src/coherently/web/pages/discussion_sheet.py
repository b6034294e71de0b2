"""The judge's sheet while the panel talks: dots without names, reasons, and the own number where one reads why."""

from __future__ import annotations

from statistics import median
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from coherently.web.catalogue import plain
from coherently.web.pages.formats import GAP, between, whole
from coherently.web.pages.judge_view import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coherently.web.pages.judge_view import EventField, SheetPage
    from coherently.web.shapes.discussion_shapes import VoiceView

NARROW = 0.25
"""Questions without a reason whose answers are no farther apart than this are shown only when asked for."""
LATELY = 1e-9
"""A number that differs by more was changed."""


class DiscussionSheet:
    """What the template shows of a sheet in the discussion and in the revision, the widest disagreement first."""

    def __init__(self, view: SheetPage) -> None:
        self.view = view
        self.others = {each.event: each.probabilities for each in view.sheet.others or []}
        self.earlier = {each.event: each.probability for each in view.sheet.earlier}
        self.voices: dict[str, list[VoiceView]] = {}
        for voice in view.sheet.voices:
            self.voices.setdefault(voice.question, []).append(voice)

    def topics(self, questions: Sequence[SimpleNamespace]) -> tuple[list[SimpleNamespace], list[SimpleNamespace]]:
        """The questions with something to talk about, and those that the page shows only when asked."""
        made = [self._topic(each) for each in questions]
        made.sort(key=lambda topic: -topic.width)
        quiet = [topic for topic in made if self._is_quiet(topic)]
        return [topic for topic in made if topic not in quiet], quiet

    def _is_quiet(self, topic: SimpleNamespace) -> bool:
        told = topic.voices or topic.each.comments or topic.each.cards
        return self.view.sheet.others is not None and not told and topic.width <= NARROW and bool(self.voices)

    def _topic(self, each: SimpleNamespace) -> SimpleNamespace:
        rows = [self._row(field) for field in each.fields]
        widest = max(rows, key=lambda row: row.width)
        voices = [self._voice(voice) for voice in self.voices.get(each.view.id, ())]
        return SimpleNamespace(
            each=each,
            rows=rows,
            width=widest.width,
            words=self._words(widest, several=len(rows) > 1),
            voices=[voice for voice in voices if not voice.mine],
            own=next((voice for voice in voices if voice.mine), None),
        )

    def _row(self, field: EventField) -> SimpleNamespace:
        """An event: the numbers of the others, and the own one as it was when the discussion opened."""
        others = self.others.get(field.id, [])
        before = self.earlier.get(field.id) if self.view.sheet.round.phase == "revision" else field.value
        every = sorted([*others, *([] if before is None else [before])])
        return SimpleNamespace(
            field=field,
            others=others,
            before=before,
            was=typed(before),
            moved=before is not None and not _same(before, field.value),
            every=every if others else [],
            width=every[-1] - every[0] if others else 0.0,
        )

    def _words(self, row: SimpleNamespace, *, several: bool) -> str:
        """What the dots say; of several events, those of the widest."""
        if self.view.sheet.others is None:
            return plain("judge.dots.hidden")
        if not row.every:
            return plain("judge.dots.few")
        middle = f"{whole(median(row.every))}{GAP}%"
        numbers = plain("judge.dots", range=between(row.every[0], row.every[-1]), middle=middle)
        title = row.field.title
        return f"{title[:1].upper()}{title[1:]}: {numbers[0].lower()}{numbers[1:]}" if several else numbers

    def _voice(self, voice: VoiceView) -> SimpleNamespace:
        who = "judge.voice.you" if voice.mine else "judge.voice.someone"
        number = None if voice.probability is None else f"{typed(voice.probability)}{GAP}%"
        words = plain(who) if number is None else plain(f"{who}.at", number=number)
        return SimpleNamespace(**{**_fields(voice), "who": words})

    def moved(self) -> int:
        """How many numbers the judge has changed since the revision began."""
        now = {event: answer.probability for event, answer in self.view.answers.items()}
        given = {event for event, value in now.items() if value is not None}
        return sum(not _same(self.earlier.get(event), now.get(event)) for event in given | self.earlier.keys())


def _fields(voice: VoiceView) -> dict[str, Any]:
    return {name: getattr(voice, name) for name in type(voice).model_fields}


def _same(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before is now
    return abs(before - now) <= LATELY
