"""What tools do: plain arguments in, a plain answer and the value behind it out. No file is read or written here.

Every call builds its panel from what was sent, so that nothing is left of one call in another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from coherently.agents.tool_fields import SHOWN_ROWS
from coherently.errors import PanelError, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from threading import Event

    from coherently.contract import Described
    from coherently.explain import Finding
    from coherently.panel import Panel
    from coherently.result import Result

DIGITS = 4
"""Digits of probabilities in answers; the records have all."""
SECONDS = 10.0
"""Time limit of a call that names none."""
FEW, LINES = 10, 12
"""Maximum number of judges, and of sentences, in an answer."""


class ToolAnswer(NamedTuple):
    """The plain answer of a tool, but for the address of its record, and the value that the record is of."""

    values: dict[str, Any]
    value: Described


@dataclass(frozen=True, slots=True)
class CallGrounds:
    """What a call may use: the laws that hold in every call, the time, when to stop, and earlier results."""

    laws: tuple[str, ...] = ()
    most_seconds: float = SECONDS
    stop: Event | None = None
    earlier: Mapping[str, Described] = field(default_factory=dict)

    def seconds(self, arguments: Mapping[str, Any]) -> float:
        """The time limit of a call."""
        return min(self.most_seconds, float(arguments.get("time_limit", SECONDS)))

    def panel(self, arguments: Mapping[str, Any]) -> Panel:
        """The panel of a call's forecasts and laws."""
        from coherently.panel import Panel

        rows = [{"judge": "panel", "weight": 1.0, **row} for row in arguments["forecasts"]]
        return Panel.from_records(rows, laws=[*arguments.get("laws", ()), *self.laws])


def check(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """Who contradicts what."""
    from coherently.explain import check as find

    panel = grounds.panel(arguments)
    found = find(panel, time_limit=grounds.seconds(arguments), threads=1, cancel=grounds.stop)
    judges = [_judge(found.judges[name]) for name in found.judges.worst(FEW)]
    wrong = sum(verdict.coherent is False for verdict in found.judges.verdicts)
    several = len(panel.judges) > 1
    means = _few(found.contradictions if several or not judges else found.judges[panel.judges[0]].contradictions)
    values = {
        "coherent": found.coherent,
        "distance": round(found.means.distance, 6),
        "incoherent_judges": wrong,
        "judges": judges,
        "sentences": [*_verdict(found.coherent, panel, wrong, several=several), *means],
        "notes": list(found.notes),
    }
    return ToolAnswer(values, found)


def _judge(finding: Finding) -> dict[str, Any]:
    return {
        "judge": finding.name,
        "coherent": finding.coherent,
        "distance": round(finding.distance, 6),
        "contradictions": _few(finding.contradictions),
    }


def _verdict(coherent: bool | None, panel: Panel, wrong: int, *, several: bool) -> list[str]:
    known = {True: "fit together", False: "contradict each other", None: "were not decided in the time"}
    whose = f"The means of {counted(len(panel.judges), 'judge')}" if several else "The answers"
    said = [f"{whose} {known[coherent]} ({counted(len(panel), 'forecast')})."]
    return said + ([f"{wrong} of {len(panel.judges)} judges contradict themselves."] if several else [])


def repair(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """The nearest coherent probabilities."""
    from coherently.result import aggregate

    panel = grounds.panel(arguments)
    result = aggregate(panel, time_limit=grounds.seconds(arguments), cancel=grounds.stop)
    shown = result.shown(digits=DIGITS)
    texts, rows = list(panel.written.text), []
    for text, given, repaired in zip(texts, shown.raw.tolist(), shown.probability.tolist(), strict=True):
        rows.append({"event": text, "given": _number(given), "repaired": _number(repaired)})
    moved = sum(row["given"] != row["repaired"] for row in rows)
    said = [
        f"{moved} of {counted(len(rows), 'event')} moved; the numbers are {_coherent_words(result)}.",
        *(f"[{row['event']}] {row['given']} -> {row['repaired']}" for row in _largest(rows)),
    ]
    values = {
        "status": str(result.status),
        "coherence": str(result.coherence),
        "moved": moved,
        "forecasts": rows[:SHOWN_ROWS],
        "sentences": said,
        "notes": [note for note in (result.note, _more(len(rows))) if note],
    }
    return ToolAnswer(values, result)


def _number(value: float) -> float | None:
    return None if value != value else round(value, DIGITS)  # noqa: PLR0124 - NaN differs from itself


def _coherent_words(result: Result) -> str:
    kinds = {"global": "coherent", "local": "coherent within groups of events", "none": "not coherent"}
    return kinds[str(result.coherence)]


def _largest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that moved most."""
    known = [row for row in rows if row["given"] is not None and row["given"] != row["repaired"]]
    return sorted(known, key=lambda row: -abs(row["given"] - row["repaired"]))[:LINES]


def bounds(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """What the coherent probabilities imply for events."""
    from coherently.result import aggregate

    share = grounds.seconds(arguments) / (1 + len(arguments["events"]))
    result = aggregate(grounds.panel(arguments), "exact", time_limit=share, cancel=grounds.stop)
    table = result.bounds_table(arguments["events"], share, cancel=grounds.stop)
    rows = [
        {"event": pair.event, "low": round(pair.low, 6), "high": round(pair.high, 6), "certified": pair.certified}
        for pair in table.bounds
    ]
    said = [f"[{row['event']}] is between {row['low']:.4f} and {row['high']:.4f}." for row in rows[:LINES]]
    notes = [f"[{pair.event}] {pair.note}" for pair in table.bounds if pair.note]
    return ToolAnswer({"bounds": rows, "sentences": said, "notes": notes}, table)


def relate(arguments: Mapping[str, Any], _: CallGrounds) -> ToolAnswer:
    """Laws that the words of questions suggest."""
    from coherently.proposals import relate as find
    from coherently.proposals.proposal_list import summary

    found = find([{"id": text, "text": text} for text in dict.fromkeys(arguments["questions"])])
    rows = [
        {
            "law": one.law,
            "strength": one.strength.value,
            "assumes": list(one.assumes),
            "counterexample": one.counterexample,
        }
        for one in found.proposals
    ]
    said = [summary(found), *(f"{row['strength']}: {row['law']}" for row in rows[:LINES])]
    notes = [note for note in (*found.notes, _more(len(rows))) if note]
    values = {"proposals": rows[:SHOWN_ROWS], "unread": list(found.unread), "sentences": said, "notes": notes}
    return ToolAnswer(values, found)


def book(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """Bets at these probabilities that win whatever happens."""
    from coherently.explain.bets import dutch_book

    found = dutch_book(grounds.panel(arguments), time_limit=grounds.seconds(arguments), cancel=grounds.stop)
    rows = [
        {
            "event": bet.event,
            "trade": "sell" if bet.stake > 0 else "buy",
            "stake": abs(float(bet.stake)),
            "price": float(bet.price),
        }
        for bet in found.bets
    ]
    values = {
        "exists": bool(found),
        "sure_profit": found.sure_profit,
        "bets": rows[:SHOWN_ROWS],
        "sentences": [found.sentence()],
        "notes": [note for note in (*found.notes, _more(len(rows))) if note],
    }
    return ToolAnswer(values, found)


def verify(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """Whether a result that repair gave keeps its promises about these forecasts."""
    from coherently.result import Result
    from coherently.verifier import verify as examine

    result = grounds.earlier.get(arguments["result"])
    if not isinstance(result, Result):
        raise PanelError(
            "result is not the record of a repair that this server still has: call repair with the same forecasts, and "
            "pass its record",
            code="unknown-record",
            remedy="call repair with the same forecasts, and pass its record",
        )
    found = examine(grounds.panel(arguments), result, cancel=grounds.stop)
    said = "Every promise that could be checked is kept." if found else "The result breaks promises."
    values = {
        "verified": bool(found),
        "problems": list(found.problems),
        "sentences": [said, *_few(found.problems)],
        "notes": [f"not checked: {each}" for each in found.unchecked],
    }
    return ToolAnswer(values, found)


def ask_next(arguments: Mapping[str, Any], grounds: CallGrounds) -> ToolAnswer:
    """The events whose answers would say most."""
    from coherently.explain.next_questions import ask_next as find

    found = find(
        grounds.panel(arguments),
        arguments.get("k", 5),
        about=arguments.get("about"),
        candidates=arguments.get("candidates"),
        time_limit=grounds.seconds(arguments),
        cancel=grounds.stop,
    )
    rows = [{"event": one.event, "gain": one.gain, "low": one.low, "high": one.high} for one in found.questions]
    values = {
        "open": found.open,
        "questions": rows,
        "sentences": found.sentences()[: LINES + 1],
        "notes": list(found.notes),
    }
    return ToolAnswer(values, found)


def _few(sentences: Sequence[str]) -> list[str]:
    left = len(sentences) - LINES
    return [*sentences[:LINES], *([f"... and {left} more in the record"] if left > 0 else [])]


def _more(rows: int) -> str | None:
    return f"{rows - SHOWN_ROWS} more rows are in the record" if rows > SHOWN_ROWS else None
