"""Tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table
from rich.text import Text

from coherently.errors import counted
from coherently.report.changes import ranked_changes
from coherently.result.record import RESULT
from coherently.result.shown import DIGITS, ShownForecasts, ShownNumbers, beside, nearest, outward
from coherently.solve import Proof

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coherently.explain import Check
    from coherently.explain.bets import Book
    from coherently.explain.findings import Finding, Voice
    from coherently.explain.verdicts import Verdict
    from coherently.panel import Columns, Panel
    from coherently.result import Result
    from coherently.scoring import Calibration, Scores
    from coherently.scoring.consistency import Consistency
    from coherently.scoring.monitors import Monitor
    from coherently.verifier import Verification

LONGEST = 40
"""Maximum number of rows of a table on a terminal; a file has them all."""
SAID = 3
"""Maximum number of contradictions that are put into words, for each of the `WORST` judges."""
WORST = 5
UNNOTICED = "less than people notice, half a per cent, or too much to be looked at; --voice symbols names it."
"""What is said in people's voice of a contradiction that it has no sentence for."""
BETS = 10
"""Maximum number of bets in a table."""
_BAR = 20
UNANSWERED = "unanswered"
"""What stands in the place of a probability that nobody gave."""
ROUNDING = 1e-18
"""Sums of squared differences up to this are rounding errors."""


def forecasts_table(result: Result) -> Table:
    """Each event with its probability, the raw mean and the change; a shortened table has the largest changes."""
    columns = result.columns()
    change = ranked_changes(result)
    rows = np.sort(np.argsort(-change, kind="stable")[:LONGEST])
    shown = result.shown(rows)
    table = _table("event", "probability", "raw", "change", "weight", caption=_cut(len(change)))
    for i, *numbers in zip(rows.tolist(), *_change_cells(shown), strict=True):
        table.add_row(_label(columns["event"][i], result.panel.labels), *numbers, f"{columns['weight'][i]:g}")
    for text in result.panel.unanswered[:LONGEST]:
        table.add_row(_label(text, result.panel.labels), UNANSWERED, "-", "-", "0")
    return table


def _change_cells(shown: ShownForecasts) -> tuple[list[str], list[str], list[str]]:
    """Probabilities, raw numbers and changes as they are shown."""
    digits = shown.digits
    probability, raw = ([_number(value, digits) for value in column] for column in (shown.probability, shown.raw))
    return probability, raw, [_signed(value, digits) for value in shown.change]


def row_table(result: Result) -> Table:
    """Each forecast of the panel beside the probability that replaces it."""
    columns = result.row_columns()
    count = len(columns["event"])
    table = _table("judge", "event", "probability", "raw", "change", caption=_cut(count))
    for i, *numbers in zip(range(min(count, LONGEST)), *_change_cells(_shown_rows(result)), strict=True):
        table.add_row(_plain(columns["judge"][i]), _label(columns["event"][i], result.panel.labels), *numbers)
    return table


def _shown_rows(result: Result) -> ShownForecasts:
    """The first forecasts: probabilities rounded together, each beside the judge's number."""
    units, row = np.unique(result.problem.forecasts.unit[:LONGEST].astype(np.int64), return_inverse=True)
    shown = result.shown(units)
    after = ShownNumbers(shown.probability[row], shown.digits)
    value, raw = result.solution.value[units][row], result.panel.probability[:LONGEST]
    return ShownForecasts(after.value, beside(after, value, raw, nearest(raw, shown.digits)), shown.digits)


def verification_text(verification: Verification) -> str:
    """What holds, what does not, and what is unchecked, in words."""
    unchecked = verification.unchecked_fields
    checked = [each.name for each in RESULT.fields if each.name not in unchecked]
    if verification:
        lines = ["Every promise that could be checked is kept."]
    else:
        lines = [f"{counted(len(verification.problems), 'promise')} broken:"]
        lines += [f"  {problem}" for problem in verification.problems]
    if verification:
        lines.append(f"Checked: {', '.join(checked)}.")
    if verification.tolerance is not None:
        lines.append(f"Optimal was checked to {verification.tolerance:g}.")
    if verification.bound_rests_on:
        lines.append(f"The lower bound rests on: {', '.join(dict.fromkeys(verification.bound_rests_on))}.")
    lines += ["Not checked:", *(f"  {words}" for words in verification.unchecked)] if verification.unchecked else []
    return "\n".join(lines)


def bounds_table(columns: Columns) -> Table:
    """Each event with the least and the greatest probability that it can have."""
    table = _table("event", "low", "high", "note", left=("event", "note"))
    low, high = outward(np.array(columns["low"], np.float64), np.array(columns["high"], np.float64), DIGITS)
    for event, least, most, note in zip(columns["event"], low, high, columns["note"], strict=True):
        table.add_row(_plain(event), _number(least), _number(most), _plain(note or ""))
    return table


def panel_table(panel: Panel) -> Table:
    """Each event with the forecast of each judge, for a small panel without repeats."""
    cells = np.full((len(panel.written), len(panel.judges)), np.nan)
    cells[panel.event_index, panel.judge_index] = panel.probability
    table = _table("event", *panel.judges)
    for text, row in zip(panel.written.text, cells, strict=True):
        table.add_row(_label(text, panel.labels), *(_number(value) for value in row))
    return table


def summary(result: Result) -> Text:
    """What was done and what it promises, in words."""
    parts = [f"{result.panel.summary()}.", result.solution.sentence]
    if result.worlds is not None:
        count = sum(len(part.weight) for part in result.worlds.parts)
        parts.append(f"They are jointly coherent: a mixture of {counted(count, 'possible world')}.")
    if result.groups is not None:
        parts.append(f"Groups: {result.groups}; sweeps: {result.sweeps}; largest violation: {result.violation:.1e}.")
    if result.objective is not None:
        known = result.gap is not None and bool(result.lower_bound)
        bound = f", at most {result.gap:.1e} above the least possible" if known else ""
        loss = result.problem.loss.name
        what = "squared distance" if loss == "brier" else f"divergence (loss {loss})"
        shown = result.objective if result.objective > ROUNDING else 0.0
        parts.append(f"Weighted {what} from the forecasts: {shown:.6g}{bound}.")
    if result.guaranteed_improvement and result.guaranteed_improvement > ROUNDING:
        parts.append(f"Summed Brier penalty saved in every outcome: {result.guaranteed_improvement:.6g}.")
    return Text(" ".join(parts))


def consistency_table(scores: Consistency) -> Table:
    """Each judge with the mean scores of its tuples, the most consistent first; intervals over clusters in brackets."""
    columns = scores.judge_columns()
    order = np.argsort(columns["arbitrage"], kind="stable")
    table = _table(
        "judge", "tuples", "arbitrage", "frequentist", "joint", "by checks", "per answer", caption=_cut(len(order))
    )
    for i in order[:LONGEST].tolist():
        table.add_row(
            _plain(columns["judge"][i]),
            f"{columns['tuples'][i]:,}",
            *(_with_interval(columns, name, i) for name in ("arbitrage", "frequentist")),
            *(_number(columns[name][i]) for name in ("joint", "by_checks")),
            _with_interval(columns, "joint_per_answer", i),
        )
    return table


def _with_interval(columns: Columns, name: str, row: int) -> str:
    """A number, and its interval in brackets where it has one."""
    value, low, high = (columns[f"{name}{end}"][row] for end in ("", "_low", "_high"))
    ends = "" if np.isnan(low) else f" [{_number(low)}, {_number(high)}]"
    return f"{_number(value)}{ends}"


def monitor_table(watched: Monitor) -> Table:
    """The last answer sets of a stream: distance per answer, evidence, and the mean so far."""
    columns = watched.columns()
    count = len(watched.names)
    table = _table("set", "distance", "evidence", "mean between", "and", left=("set",), caption=_cut(count))
    for i in range(max(0, count - LONGEST), count):
        shown = (_number(columns[name][i]) for name in ("distance", "e_value", "mean_low", "mean_high"))
        table.add_row(_plain(columns["set"][i]), *shown)
    return table


def scores_table(scores: Scores) -> Table:
    """Each judge with its scores, the best Brier score first, and the average judge."""
    from coherently.scoring import RULES

    order = np.argsort(scores.brier, kind="stable")
    plain = scores.intervals is None
    heads = ("judge", "scored", *(rule.head for rule in RULES), *["Brier sum"] * plain)
    table = _table(*heads, caption=_cut(len(order)))
    for i in order[:LONGEST].tolist():
        cells = _with_ends(scores, {name: values[i] for name, values in scores.by_rule.items()}, i)
        last = [_number(scores.brier_sum[i])] * plain
        table.add_row(_plain(scores.judges[i]), f"{scores.scored[i]:,}", *cells, *last)
    table.add_section()
    table.add_row("average judge", "", *_with_ends(scores, scores.average(), -1), *[""] * plain)
    if scores.intervals is not None:
        said = f"In brackets: {scores.intervals.confidence:.0%} intervals over events"
        table.caption = "\n".join(filter(None, [said, str(table.caption or "")]))
    return table


def _with_ends(scores: Scores, values: dict[str, float], place: int) -> list[str]:
    """Scores as texts, with the ends of their intervals in brackets; place -1 is the average judge."""
    found, intervals = [], scores.intervals
    for name, value in values.items():
        low, high = (np.nan, np.nan) if intervals is None else (intervals.low[name][place], intervals.high[name][place])
        found.append(_number(value) if np.isnan(low) else f"{_number(value)} [{_number(low)}, {_number(high)}]")
    return found


def calibration_table(calibration: Calibration) -> Table:
    """What was forecast and what came true, bin by bin."""
    table = _table("forecast", "count", "mean forecast", "came true", "", left=("forecast", ""))
    table.title = "Calibration of all forecasts"
    for i in np.flatnonzero(calibration.count).tolist():
        table.add_row(
            f"{calibration.lower[i]:.1f} to {calibration.upper[i]:.1f}",
            f"{calibration.count[i]:,}",
            _number(calibration.mean_forecast[i]),
            _number(calibration.observed[i]),
            "█" * round(_BAR * calibration.observed[i]),
        )
    table.caption = (
        f"Brier {calibration.brier:.4f} = reliability {calibration.reliability:.4f} "
        f"- resolution {calibration.resolution:.4f} + uncertainty {calibration.uncertainty:.4f} "
        f"+ within bins {calibration.within_bin:.4f}"
    )
    return table


def findings_table(check: Check) -> Table:
    """Each judge with its distance from coherence, contradictions and the farthest first, and the panel's means."""
    judges = check.judges
    order, verdicts, forecasts = judges.order(), judges.verdicts, judges.forecasts
    names = ("judge", "forecasts", "status", "distance", "Brier penalty saved")
    table = _table(*names, caption=_cut(len(order)), left=("judge", "status"))
    for i in order[:LONGEST]:
        table.add_row(_plain(check.panel.judges[i]), *_finding_cells(int(forecasts[i]), verdicts[i]))
    if len(order) > 1:
        table.add_section()
        table.add_row("panel's means", *_finding_cells(check.means.forecasts, check.means))
    return table


def findings_summary(check: Check) -> Text:
    """How many judges are incoherent, and on what the distances rest if they are only bounds."""
    from coherently.explain.verdicts import CheckStatus

    judges = check.judges
    bad, rounded, open_ = (
        judges.count(s) for s in (CheckStatus.INCOHERENT, CheckStatus.ROUNDING, CheckStatus.UNDECIDED)
    )
    parts = [f"{bad:,} of {len(judges):,} judges {'contradicts itself' if bad == 1 else 'contradict themselves'}."]
    if len(judges) == 1:
        parts = [] if open_ else [f"The forecasts {'contradict each other' if bad else 'are coherent'}."]
    if rounded:
        parts.append(_rounding_words(rounded, len(judges), judges.tolerance))
    if unfinished := judges.unfinished:
        who = (
            "The check was"
            if len(judges) == 1
            else f"{unfinished:,} of {len(judges):,} judges {'was' if unfinished == 1 else 'were'}"
        )
        undecided = f" ({open_:,} undecided, the others with bounds on the distance)" if 0 < open_ < unfinished else ""
        when, remedy = (" in time", ": raise the limit (--time-limit)") if judges.cut else ("", " by any method")
        parts.append(f"{who} not finished{when}{undecided}{remedy}.")
    if any(proof is not Proof.ALL_WORLDS for proof in check.means.proofs):
        parts.append(f"The distance of the panel's means rests on: {check.means.proof}.")
    return Text(" ".join(parts))


def _rounding_words(rounded: int, total: int, tolerance: float) -> str:
    """Say what rounding to the decimals of the numbers explains."""
    verb = "is" if rounded == 1 else "are"
    who = "They are coherent" if total == 1 else f"{rounded:,} of {total:,} judges {verb} coherent"
    return f"{who} up to rounding: with the decimals given, each number may be off by {tolerance:g}."


def contradictions_text(check: Check, voice: Voice = "symbols", origins: Mapping[str, object] | None = None) -> Text:
    """The worst contradictions of the worst judges, and of the panel's means, one per line, in one voice.

    `origins` says of laws where they come from; then the laws that contradictions rest on are named below them.
    """
    several = len(check.judges) > 1
    count = SAID if several else None
    findings = dict(check.judges.explained(WORST))
    if several and check.contradictions:
        findings["panel's means"] = check.means
    lines = []
    for name, finding in findings.items():
        said = [f"{name}: {sentence}" for sentence in _said(finding, voice)[:count]]
        lines += _with_laws(said, finding, origins) if origins else said
    return Text("\nContradictions\n").append("\n".join(f"  {_plain(line)}" for line in lines))


def _said(finding: Finding, voice: Voice) -> tuple[str, ...]:
    """The sentences of a contradictory finding, of which there is always one."""
    from coherently.explain.people_sentences import SPACE

    # A terminal shows what does not print as escapes, and a no-break space is such.
    return tuple(said.replace(SPACE, " ") for said in finding.sentences(voice)) or (UNNOTICED,)


def _with_laws(said: list[str], finding: Finding, origins: Mapping[str, object]) -> list[str]:
    """The sentences with the laws below: each with its own, or all together where people's sentences are others."""
    told = [[f"  by the law {law} ({origins.get(law, 'no origin told')})" for law in laws] for laws in finding.grounds]
    if len(told) >= len(said) and all(
        line.endswith(own) for line, own in zip(said, finding.contradictions, strict=False)
    ):
        return [line for sentence, laws in zip(said, told, strict=False) for line in (sentence, *laws)]
    return [*said, *dict.fromkeys(line for laws in told for line in laws)]


def book_table(book: Book, labels: Mapping[str, str]) -> Table:
    """The bets of a book, the largest stakes first."""
    bets = sorted(book.bets, key=lambda bet: -abs(bet.stake))
    caption = f"{BETS} of {len(bets):,} bets; --json lists them all" if len(bets) > BETS else None
    table = _table("event", "trade", "stake", "price", caption=caption, left=("event", "trade"))
    for bet in bets[:BETS]:
        trade = "sell" if bet.stake > 0 else "buy"
        table.add_row(_label(bet.event, labels), trade, f"{abs(float(bet.stake)):.6g}", _number(float(bet.price)))
    return table


def _table(*names: str, caption: str | None = None, left: Sequence[str] = ("event", "judge")) -> Table:
    table = Table(caption=caption, box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(_plain(name), justify="left" if name in left else "right", overflow="fold")
    return table


def _cut(count: int) -> str | None:
    return f"{LONGEST} of {count:,} rows; -o FILE writes them all" if count > LONGEST else None


def _label(text: str, labels: Mapping[str, str]) -> Text:
    return _plain(labels.get(text, text))


def _plain(text: str) -> Text:
    """Text that a terminal shows as it is: control characters are written as escapes."""
    return Text("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def _number(value: float, digits: int = DIGITS) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _signed(value: float, digits: int) -> str:
    return "-" if np.isnan(value) else "0" if abs(value) < 0.5 * 10.0**-digits else f"{value:+.{digits}f}"


def _finding_cells(forecasts: int, verdict: Verdict) -> tuple[str, str, str, str]:
    return f"{forecasts:,}", str(verdict.status), distance_words(verdict), _small(verdict.guaranteed_improvement)


def distance_words(verdict: Verdict) -> str:
    """A distance, or bounds on it: the least and the greatest value that it can have."""
    low, high = _small(verdict.distance_low), _small(verdict.distance_high)
    if verdict.proved:
        return high if low == high else f"{verdict.distance_high:#.3g}"
    return high if low == high else f"between {low} and {high}" if verdict.distance_low > 0 else f"at most {high}"


def _small(value: float | None) -> str:
    if value is None:
        return "-"
    return "0" if value == 0 else _number(value) if value >= 5e-5 else f"{value:.1e}"
