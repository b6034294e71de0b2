"""Letters to judges, one text for each: what mail says, and what a facilitator copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherently.web.catalogue import plain
from coherently.web.operations.deadlines import in_words
from coherently.web.operations.panel_operations import own_panel, time_zone
from coherently.web.shapes.message_shapes import LetterList, LetterView
from coherently.web.store.resources.round_resource import ANSWERING

if TYPE_CHECKING:
    from coherently.web.access.callers import AccountCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import JudgeRecord, PanelRecord, RoundRecord, Store

LINK = "{link}"
"""Where the link of a judge goes in a letter."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter with its link in it."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class LetterContext:
    """What all letters of a panel say, read at one moment; `answered` counts the questions that each judge did."""

    panel: PanelRecord
    round: RoundRecord
    questions: int
    answered: dict[str, int]
    handed_in: frozenset[str]

    @classmethod
    def of(cls, store: Store, panel: str) -> LetterContext:
        """The present state of a panel."""

        def action() -> LetterContext:
            present, asked = store.rounds.current(panel), store.questions.list(panel)
            given: dict[str, set[str]] = {}
            for record in store.forecasts.latest(panel):
                if record.state != "withdrawn":
                    given.setdefault(record.judge, set()).add(record.event)
            answered = {
                judge: sum(all(event.id in own for event in question.events) for question in asked)
                for judge, own in given.items()
            }
            handed_in = frozenset(each.judge for each in store.judges.hand_ins(panel, present.number))
            return cls(store.panels.get(panel), present, len(asked), answered, handed_in)

        return store.read(action)

    def concerns(self, judge: JudgeRecord, kind: str) -> bool:
        """Whether a letter of a kind makes sense for a judge now."""
        if self.round.phase not in ANSWERING or not judge.has_link:
            return False
        return kind == "invitation" or judge.id not in self.handed_in

    def letter(self, judge: JudgeRecord, kind: str, link: str = LINK) -> Letter:
        """The letter to a judge."""
        until = ""
        if self.round.closes_at is not None:
            until = plain("letter.until", when=in_words(self.round.closes_at, time_zone(self.panel)))
        left = self.questions - self.answered.get(judge.id, 0)
        said = {
            "name": judge.name,
            "panel": self.panel.title,
            "questions": plain("questions.count", count=self.questions),
            "left": plain("letter.left", count=left) if left > 0 else plain("letter.left.hand_in"),
            "until": until,
            "link": link,
        }
        return Letter(plain(f"letter.{kind}.subject", **said), plain(f"letter.{kind}", **said))


def list_letters(bench: Workbench, caller: AccountCaller, panel: str, kind: str) -> LetterList:
    """The letters of a kind to all judges whom it concerns; `{link}` in them stands for the link."""
    own_panel(bench, caller, panel)
    context, found = LetterContext.of(bench.store, panel), []
    for judge in bench.store.judges.list(panel):
        if context.concerns(judge, kind):
            letter = context.letter(judge, kind)
            found.append(
                LetterView(
                    judge=judge.id, name=judge.name, address=judge.address, subject=letter.subject, text=letter.text
                )
            )
    return LetterList(letters=found)
