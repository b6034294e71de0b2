"""The worked panel of `coherently serve --demo`: eight judges on the economy and a supplier, over two rounds.

The names, the company and the numbers are made up. There are two copies: one whose first round is still open, and one
that is closed, with outcomes.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from coherently.explain import judge_sheet as desk
from coherently.web.access.callers import AccountCaller
from coherently.web.operations.aggregation_operations import request_aggregation
from coherently.web.operations.questions import setting_of
from coherently.web.shapes.aggregation_shapes import AggregationDraft
from coherently.web.store import AnswerGiven
from coherently.web.wall_clock import present

if TYPE_CHECKING:
    from coherently.web.access.workbench import Workbench
    from coherently.web.store import Store

TITLE = "2027 outlook and the Norvik supply risk"
OPEN_TITLE = "2027 outlook, first round still open"
ECONOMY, SUPPLIER = "The economy", "Norvik, our only supplier of pump castings"
QUESTIONS: tuple[tuple[str, str, str, str, str | None, tuple[tuple[str, str], ...]], ...] = (
    (
        "yes-no",
        "The euro area is in recession in 2027",
        "Two quarters in a row of falling GDP, by Eurostat’s first release.",
        ECONOMY,
        None,
        (("recession", "a recession"),),
    ),
    (
        "yes-no",
        "The ECB cuts its deposit rate by 30 June 2027",
        "At least one cut after today.",
        ECONOMY,
        None,
        (("cut", "a rate cut"),),
    ),
    (
        "yes-no",
        "A recession in 2027 and a rate cut by 30 June",
        "Questions 1 and 2 both come true.",
        ECONOMY,
        None,
        (("recession & cut", "a recession and a rate cut"),),
    ),
    (
        "partition",
        "Inflation in December 2027",
        "Annual rate of the euro area, flash estimate. Exactly one of these comes true.",
        ECONOMY,
        "variable inflation: number",
        (
            ("inflation < 1.5", "under 1.5\u00a0%"),
            ("inflation >= 1.5 & inflation < 2.5", "1.5 to 2.5\u00a0%"),
            ("inflation >= 2.5 & inflation < 3.5", "2.5 to 3.5\u00a0%"),
            ("inflation >= 3.5", "3.5\u00a0% or more"),
        ),
    ),
    (
        "ladder",
        "Norvik misses a delivery",
        "By more than two weeks, for the first time after today. The chance that it has happened by each date.",
        SUPPLIER,
        "variable missed: date",
        (
            ("missed <= 2027-03-31", "by 31 March"),
            ("missed <= 2027-06-30", "by 30 June"),
            ("missed <= 2027-09-30", "by 30 September"),
            ("missed <= 2027-12-31", "by 31 December"),
        ),
    ),
    (
        "yes-no",
        "Norvik files for insolvency in 2027",
        "Entry in the insolvency register.",
        SUPPLIER,
        None,
        (("insolvency", "an insolvency"),),
    ),
    (
        "yes-no",
        "A recession in 2027 and Norvik files for insolvency",
        "Questions 1 and 6 both come true.",
        SUPPLIER,
        None,
        (("recession & insolvency", "a recession and an insolvency"),),
    ),
    (
        "conditional",
        "If there is a recession: Norvik files for insolvency",
        "Suppose that question 1 comes true. How likely is question 6 then?",
        SUPPLIER,
        None,
        (("insolvency given recession", "an insolvency if there is a recession"),),
    ),
    (
        "yes-no",
        "Our line stops for a week or more in 2027",
        "Five working days in a row without a finished pump.",
        SUPPLIER,
        None,
        (("stop", "a stop of our line"),),
    ),
)
"""Kind, title, definition, heading, declaration, and the events with their short titles."""
LAWS = (
    ("insolvency -> missed <= 2027-12-31", "An insolvency means a missed delivery in 2027."),
    ("stop -> missed <= 2027-12-31", "A stop means a missed delivery in 2027."),
)
"""Laws, with their words."""
NOT = None
"""An abstention."""
FIRST: dict[str, tuple[int | None, ...]] = {
    "Alice": (30, 55, 36, 12, 48, 28, 12, 12, 30, 44, 55, 25, NOT, 30, 60),
    "Bob": (45, 65, 40, 20, 50, 25, 15, 25, 45, 60, 75, 30, 35, 60, 65),
    "Chris": (25, 40, 30, 15, 55, 20, 10, 8, 18, 28, 35, 12, 8, 32, NOT),
    "Dana": (20, 50, 15, 10, 60, 20, 10, 5, 15, 20, 30, 10, 6, 30, NOT),
    "Erin": (35, 60, 25, 15, 50, 25, 10, 10, 20, 25, 38, 20, 7, 20, 30),
    "Frank": (40, 70, 35, 15, 40, 25, 20, 20, 40, 55, 70, 35, 20, 50, 45),
    "Grace": (30, 65, 20, 12, 50, 28, 10, 10, 18, 28, 40, NOT),
    "Heidi": (),
}
"""Answers of the first round in per cent, event by event; who has fewer is still at it."""
SECOND: dict[str, tuple[int | None, ...]] = {
    "Alice": (28, 58, 24, 12, 50, 28, 10, 12, 34, 46, 56, 22, 10, 36, 64),
    "Bob": (38, 66, 44, 20, 52, 30, 18, 22, 42, 56, 70, 30, 34, 58, 66),
    "Chris": (26, 48, 34, 14, 54, 22, 10, 10, 24, 36, 44, 15, 9, 34, 44),
    "Dana": (18, 56, NOT, 12, 58, 20, 10, 6, 20, 30, 40, 12, NOT, NOT, 40),
    "Erin": (34, 60, 30, 15, 50, 25, 10, 12, 26, 36, 46, 20, 14, 42, 52),
    "Frank": (40, 66, 46, 18, 48, 30, 16, 20, 40, 54, 66, 32, 30, 60, 66),
    "Grace": (30, 60, 28, 14, 50, 26, 10, 12, 28, 40, 50, 18, 12, 40, 56),
    "Heidi": (20, 54, NOT, 12, 54, 24, 10, 10, 28, 40, 50, 16, NOT, 30, 56),
}
"""Answers of the revision."""
REASONS = {
    ("Alice", "cut"): "Futures have it at a little over half, and I see nothing that they do not.",
    ("Alice", "stop"): "A strike at our own plant would stop the line too.",
    ("Bob", "recession & insolvency"): "Every foundry that I know fails in the first bad year.",
    ("Dana", "missed <= 2027-12-31"): "Norvik has missed two dates in eleven years.",
    ("Frank", "insolvency"): "Their bank has not renewed the credit line.",
}
"""Reasons beside answers, by judge and event."""
COMMENTS = (
    ("Frank", 6, "The register has a new charge on their plant since October. That is how it began at Lenz, too."),
    ("Dana", 5, "Two missed dates in eleven years. Why should next year be so different?"),
    ("Bob", 5, "Because both were in the last eighteen months."),
    (None, 9, "Alice says that a strike of our own would stop the line as well. Should the law go?"),
    ("Grace", 9, "Yes. The question is about our line, not about Norvik."),
    ("Chris", 3, "I had more for both together than for a recession alone. That was a slip."),
)
"""Who said what about which question in the discussion; None is the facilitator."""
OUTCOMES: dict[str, bool | float | str] = {
    "recession": False,
    "cut": True,
    "inflation": 2.1,
    "missed": "2027-05-20",
    "insolvency": False,
    "stop": True,
}
"""What came true."""
DAYS_OPEN = 2
"""How many days the open round has left."""


def make_demo(bench: Workbench, caller: AccountCaller | None = None) -> str:
    """Make both copies, of the caller or of this machine's account, and give the id of the closed one."""
    store = bench.store
    if caller is None:
        local = store.accounts.local()
        caller = AccountCaller(local.id, local.name)
    owner = caller
    running = store.write(lambda: _begin(store, owner, OPEN_TITLE))
    closes = (present() + timedelta(days=DAYS_OPEN)).replace(hour=16, minute=0, second=0, microsecond=0)
    store.rounds.advance(running, "private", closes.isoformat())
    _say_meant(bench, running)
    closed = store.write(lambda: _begin(store, owner, TITLE))
    _say_meant(bench, closed)
    _finish(bench, owner, closed)
    return closed


def _begin(store: Store, caller: AccountCaller, title: str) -> str:
    """A panel with its questions and laws, and the first round."""
    panel = store.panels.create(caller.account, title).id
    for kind, words, definition, group, declaration, events in QUESTIONS:
        store.questions.add(panel, kind, words, events, definition, group, declaration)  # type: ignore[arg-type]
    for statement, words in LAWS:
        store.laws.add(panel, statement, words)
    for name, answers in FIRST.items():
        judge, _ = store.judges.invite(panel, name)
        if answers:
            store.judges.opened(judge.id)
    _answer(store, panel, FIRST)
    return panel


def _answer(store: Store, panel: str, answers: dict[str, tuple[int | None, ...]]) -> None:
    """Record the answers; who has answered everything hands in, except Alice in the first round."""
    events = [event for question in store.questions.list(panel) for event in question.events]
    judges = {judge.name: judge.id for judge in store.judges.list(panel)}
    for name, numbers in answers.items():
        given = [
            AnswerGiven(event.id, None if number is None else number / 100, reason=REASONS.get((name, event.event), ""))
            for event, number in zip(events, numbers, strict=False)
        ]
        if given:
            store.forecasts.record(judges[name], given, phases=None)
        if len(given) == len(events) and not (name == "Alice" and answers is FIRST):
            store.judges.hand_in(judges[name])


def _say_meant(bench: Workbench, panel: str) -> None:
    """Alice means it that a stop is likelier than a missed delivery."""
    store = bench.store
    alice = store.judges.by_name(panel, "Alice")
    assert alice is not None
    stop = next(event.id for each in store.questions.list(panel) for event in each.events if event.event == "stop")
    own = [
        desk.Answered(record.event, record.probability, record.probability is None)
        for record in store.forecasts.latest(panel, alice.id)
    ]
    for clash in desk.feedback(setting_of(bench, panel), own, time_limit=1.0).contradictions:
        if stop in clash.events:
            store.meant.say(alice.id, clash.key, clash.sentence, REASONS["Alice", "stop"])


def _finish(bench: Workbench, caller: AccountCaller, panel: str) -> None:
    """Discussion, revision, three versions of the aggregate, and outcomes."""
    store = bench.store
    store.rounds.advance(panel, "discussion", hide_numbers=False)
    _aggregate(bench, caller, panel, "Round 1 closed")

    def discuss() -> None:
        judges = {judge.name: judge.id for judge in store.judges.list(panel)}
        questions = [question.id for question in store.questions.list(panel)]
        for name, number, words in COMMENTS:
            store.comments.add(panel, words, judges[name] if name else None, questions[number - 1])
        store.rounds.advance(panel, "revision", hide_numbers=False)
        store.judges.opened(judges["Heidi"])
        _answer(store, panel, SECOND)

    store.write(discuss)
    store.rounds.advance(panel, "closed", hide_numbers=False)
    _aggregate(bench, caller, panel, "Round 2 closed")
    store.laws.drop(next(law.id for law in store.laws.list(panel) if law.statement == LAWS[1][0]))
    _aggregate(bench, caller, panel, "The law “a stop means a missed delivery” dropped")

    def resolve() -> None:
        for event, outcome in OUTCOMES.items():
            store.outcomes.record(panel, event, outcome)

    store.write(resolve)


def _aggregate(bench: Workbench, caller: AccountCaller, panel: str, note: str) -> None:
    request_aggregation(bench, caller, panel, AggregationDraft(note=note))
