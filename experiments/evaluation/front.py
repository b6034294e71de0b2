"""The first page: one table, what to use when, and whether the tuned recipe keeps what it promises.

Every sentence that rests on a figure is made from the figures, so that it says something else when they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import coherently as co
from experiments.evaluation.scored import COHERENT, KEPT, NEGLIGIBLE, SIMPLEST
from experiments.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from experiments.evaluation.scored import Scored

COLUMNS = {
    "Tuned recipe": "tuned recipe",
    "Default recipe": "default recipe",
    "Exact": "exact",
    "Linear average": "linear",
    "Median": "median",
    "Trimmed mean": "trim",
    "Log pool": "log",
    "Normalised average": "norm.",
    "Tuned pool": "tuned pool",
    "Raw": "raw",
}
"""The columns of the first table, and their short names."""
COHERENT_PAIRS = (*COHERENT.items(), ("Tuned recipe", "Tuned pool"))
"""A pool made coherent, and the same pool."""
MOST_NAMED = 3
"""Panels on which a method is better are named in sentences if there are no more of them."""
POOLS = ("Linear average", "Median", "Trimmed mean", "Log pool")
"""The plain pools, which look at each event alone and learn nothing."""
INTRODUCTION = """\
Which method makes the most accurate forecast, on panels that people, language models, bookmakers and markets really made? The
panels are read from a folder beside the repository and are not part of it: licences differ, and some are not stated. Each has
its own page with the details."""
READING = f"""\
Brier scores, means over judges, lower is better; ± is half of the 95% interval over judges and events. **Bold** is the best
of a row; a *tie* is a method whose paired difference from the best has an interval that contains 0, or is smaller than
0.00005: it is not shown to be worse. The intervals of the scores are wide because questions differ; methods are compared on
the same questions, so differences are known much better. No ± means that the events depend on too few independent variables for
an interval; nothing is shown there.

*Raw* is the judges' own forecasts; *linear*, *median*, *trim* (the mean without the highest and lowest fifth), *log* (mean
log-odds) and *norm.* (linear, each partition divided by its sum) are pools that look at each event or partition alone; *exact* is
the nearest coherent forecasts; *default recipe* is {co.Recipe().sentence}. *Tuned pool* and *tuned recipe* are what
was learned from outcomes, without coherence and with it, out of fold: what is scored was learned from other events, which neither a law
nor a cluster of [the plan](evaluation-plan.md) ties to it. Where nothing can be learned, the default recipe stands for both, and the
cell says so. The rules of the literature, fitted in the same folds, are on the page of each panel and in [the evidence](evidence.md)."""
LIMITS = """\
## What this does and does not show

- With so many differences some exclude 0 by chance: about one in twenty where there is none.
- The intervals take other judges and other questions of the same kind into account. They do not know that questions hang
  together in ways that no law says (several questions about one election), nor that several judges are one model under
  different prompts; they are too narrow by as much.
- Aggregates are not made anew in each resample: the intervals are about these aggregates.
- Language models may have been trained on texts about the outcomes. That flatters all methods, and need not change which
  is better.
- Judges whose names begin with `Resolver_` searched the web and may have seen outcomes: they count for coherence, and not
  for accuracy.
- Coherence repairs contradictions; it adds no knowledge."""


def front(found: Sequence[Scored], unresolved: Mapping[str, str], told: Mapping[str, Sequence[str]]) -> list[str]:
    """The parts of the first page: panels with outcomes, and what is told of those without."""
    return [
        INTRODUCTION,
        first_table(found),
        READING,
        "The panels: " + "; ".join(f"`{one.name}`, {one.of}" for one in found) + ".",
        "## What to use when",
        bullets(conclusions(found)),
        "For each panel, the simplest method that ties with the best, and what each step adds: the difference of Brier scores, "
        "with its 95% interval (below 0: the step helps).",
        steps_table(found),
        "## Does the tuned recipe keep what it promises?",
        *promises(found),
        "## Panels without outcomes",
        *(_unresolved(name, what, told.get(name, ())) for name, what in unresolved.items()),
        LIMITS,
        "## The pages",
        "```{toctree}\n:glob:\n:titlesonly:\nevaluation/*\n```",
    ]


def first_table(found: Iterable[Scored]) -> str:
    """One row per panel, one column per method."""
    rows = [[f"[{one.name}](evaluation/{one.name}.md)", *(_cell(one, name) for name in COLUMNS)] for one in found]
    return table(["panel", *COLUMNS.values()], rows)


def _cell(one: Scored, method: str) -> str:
    row = one.row(method)
    if row != method:
        return f"as {COLUMNS[row]}"
    place = one.scores.methods.index(method)
    high = one.scores.columns()["brier_high"][place]
    half = f" ±{_short(high - one.brier(method))}" if high == high else ""  # noqa: PLR0124
    said = f"{_short(one.brier(method))}{half}"
    if method == one.best():
        return f"**{said}**"
    return f"{said} tie" if method in one.ties else said


def _short(score: float) -> str:
    """A score in four decimals, without the 0 before the point."""
    return f"{score:.4f}".removeprefix("0")


def conclusions(found: Sequence[Scored]) -> list[str]:
    """What to use when."""
    return [_default(found), _tuned(found), _coherence(found), _pools(found), _already_coherent(found)]


def _default(found: Sequence[Scored]) -> str:
    worse = which(found, "Default recipe", "Linear average", "worse")
    better = which(found, "Default recipe", "Linear average", "better")
    head = "**Without outcomes, use the default recipe** (`--method recipe`)."
    if worse or not better:
        head = "**Without outcomes, no choice is safe.**"
    return f"{head} {compared(found, 'Default recipe', 'Linear average')}"


def _tuned(found: Sequence[Scored]) -> str:
    learned = [one for one in found if one.learned is not None]
    if not learned:
        return "**Nothing could be learned** on any panel: too little is resolved."
    worse, better = (which(learned, "Tuned recipe", "Default recipe", word) for word in ("worse", "better"))
    head = "**With outcomes, let `coherently tune` learn from them, and read what it says.**"
    if worse or not better:
        head = "**Learning from outcomes is no sure gain over the default.**"
    rest = [one.name for one in found if one.learned is None]
    few = f" Too little is resolved to learn from on {names(rest)}." if rest else ""
    return (
        f"{head} Where it could learn, out of fold: {compared(learned, 'Tuned recipe', 'Linear average')} "
        f"{compared(learned, 'Tuned recipe', 'Default recipe')}{few}"
    )


def _coherence(found: Sequence[Scored]) -> str:
    pairs = [pair for pair in COHERENT_PAIRS if all(set(pair) <= {*one.scores.methods, *KEPT} for one in found)]
    hurt = [one for first, second in pairs for one in which(found, first, second, "worse")]
    helped = [one for first, second in pairs for one in which(found, first, second, "better")]
    head = "**Make the pool coherent, whichever it is.** That was never shown to hurt."
    if hurt:
        head = f"**Making a pool coherent is not always safe**: it was shown to hurt on {names(dict.fromkeys(hurt))}."
    elif not helped:
        head = "**Making a pool coherent was shown neither to help nor to hurt.**"
    learned = [one for one in found if one.learned is not None]
    said = [
        compared(among, first, second) for first, second in pairs if (among := learned if "Tuned" in first else found)
    ]
    return f"{head} {' '.join(said)}"


def _pools(found: Sequence[Scored]) -> str:
    best = {pool: [one.name for one in found if one.best(POOLS) == pool] for pool in POOLS}
    won = [f"{pool} on {names(panels)}" for pool, panels in best.items() if panels]
    worse = [
        f"{pool} is shown to be worse than the linear average on {names(panels)}"
        for pool in POOLS[1:]
        if (panels := which(found, pool, "Linear average", "worse"))
    ]
    head = "**No plain pool wins everywhere.**" if len(won) > 1 else "**One plain pool is best everywhere.**"
    safe = [pool for pool in POOLS[1:] if not which(found, pool, "Linear average", "worse")]
    last = f" Never shown to be worse than it: {', '.join(safe)}." if safe else ""
    told = f" {'; '.join(worse)}." if worse else ""
    return f"{head} The best of them is {'; '.join(won)}.{told}{last}"


def _already_coherent(found: Sequence[Scored]) -> str:
    same = [one for one in found if abs(one.difference("Exact", "Linear average").difference) < NEGLIGIBLE]
    head = (
        "**Where the average is coherent already, coherence buys nothing.** If all judges forecast the same full partition and "
        "each of them is coherent, or if questions have nothing to do with each other, so is their average."
    )
    if not same:
        return f"{head} No panel here is such: coherence changes the score of each linear average."
    said = [f"`{one.name}` (where it moves no probability by more than {one.moved:.1g})" for one in same]
    return (
        f"{head} Here coherence leaves the Brier score of the linear average as it is, to the fourth decimal, on {_and(said)}: use "
        "any average there, and `coherently check` to tell judges of their own contradictions."
    )


def steps_table(found: Iterable[Scored]) -> str:
    """For each panel the simplest method that ties with the best, and what coherence and learning add."""
    rows = []
    for one in found:
        simple = next((method for method in SIMPLEST if method in one.ties), one.best())
        known = one.difference(one.best(), "Linear average").interval is not None
        rows.append(
            [
                one.name,
                one.best(),
                simple if known else "not known: no interval",
                signed(one, "Exact", "Linear average"),
                signed(one, "Default recipe", "Linear average"),
                "nothing learned" if one.learned is None else signed(one, "Tuned recipe", "Default recipe"),
            ]
        )
    head = [
        "panel",
        "best",
        "simplest that ties with it",
        "coherence, after the linear average",
        "the default recipe, after the linear average",
        "learning, after the default recipe",
    ]
    return table(head, rows)


def promises(found: Sequence[Scored]) -> list[str]:
    """The three promises, each with where it holds and where it fails."""
    related = [one for one in found if one.tied]
    rows = []
    for one in related:
        rival = one.best(one.rivals)
        rows.append(
            [
                one.name,
                f"{rival} {one.brier(rival):.4f}",
                f"{one.brier('Tuned recipe'):.4f}{'' if one.learned else ' (default kept)'}",
                signed(one, "Tuned recipe", rival),
                one.verdict("Tuned recipe", rival),
                signed(one, "Default recipe", "Linear average"),
                one.verdict("Default recipe", "Linear average"),
            ]
        )
    head = ["panel", "best rival", "tuned recipe", "difference", "tuned is", "default - linear", "default is"]
    return [
        "On the panels with related events, the tuned recipe, out of fold, beside the best of all pools and of all rules of the "
        "literature, each also made coherent. The rival is chosen after the fact, by the same outcomes, which favours it.",
        table(head, rows),
        bullets([_not_worse(related), _better_on_half(related), _default_is_safe(related)]),
        *_why(related),
    ]


def _not_worse(related: Sequence[Scored]) -> str:
    by = _against_rival(related)
    unknown = f" It cannot be judged on {names(by['no interval'])}: no interval." if by["no interval"] else ""
    count = len(related) - len(by["worse"]) - len(by["no interval"])
    if by["worse"]:
        return f"*The tuned recipe is nowhere worse than the best rival by more than its interval*: **fails** on {names(by['worse'])}, holds on {count} of {len(related)} panels.{unknown}"
    return f"*The tuned recipe is nowhere worse than the best rival by more than its interval*: **holds** on {count} of {len(related)} panels.{unknown}"


def _better_on_half(related: Sequence[Scored]) -> str:
    by = _against_rival(related)
    own = [one for one in related if one.kin is None]
    once = len(_against_rival(own)["better"])
    holds = "**holds**" if 2 * len(by["better"]) >= len(related) else "**fails**"
    return (
        f"*It is shown to be better on at least half of them*: {holds}: better on {len(by['better'])} of {len(related)} "
        f"({names(by['better'])}), a tie on {len(by['tie'])}. Counting the forms of one panel once: {once} of {len(own)}."
    )


def _default_is_safe(related: Sequence[Scored]) -> str:
    worse = which(related, "Default recipe", "Linear average", "worse")
    unknown = which(related, "Default recipe", "Linear average", "no interval")
    found = f"**fails** on {names(worse)}" if worse else "**holds**"
    extra = f"; it cannot be judged on {names(unknown)}: no interval over events" if unknown else ""
    behind = [
        f" On `{one.name}` it has the higher score, by {one.difference('Default recipe', 'Linear average').difference:.4f}"
        f"{_over_judges(one)}."
        for one in related
        if one.name in unknown and one.difference("Default recipe", "Linear average").difference > 0
    ]
    return f"*The default recipe is nowhere shown to be worse than linear averaging*: {found}{extra}.{''.join(behind)}"


def _over_judges(one: Scored) -> str:
    """The interval over judges only, for panels whose events are too few for one over both."""
    found = one.scores.difference(one.row("Default recipe"), "Linear average", over="judges").interval
    return "" if found is None else f" (other judges on these same events: {found[0]:+.4f} to {found[1]:+.4f})"


def _why(related: Sequence[Scored]) -> list[str]:
    """For each panel on which a rival is shown to be better, or has a better score without an interval, the facts behind it."""
    said = []
    for one in related:
        rival = one.best(one.rivals)
        verdict, gap = one.verdict("Tuned recipe", rival), one.difference("Tuned recipe", rival).difference
        if verdict != "worse" and not (verdict == "no interval" and gap > 0):
            continue
        kept = f" {one.kept}" if one.kept else ""
        elsewhere = which([one for one in related if rival in one.scores.methods], rival, "Linear average", "worse")
        risk = (
            f" {rival} is no safe choice: it is shown to be worse than the linear average on {names(elsewhere)}."
            if elsewhere
            else ""
        )
        said.append(f"`{one.name}`: {rival} has the lower score, by {gap:.4f} ({verdict}).{kept}{risk}")
    return ["Where the tuned recipe is behind, why:", bullets(said)] if said else []


def _against_rival(related: Iterable[Scored]) -> dict[str, list[str]]:
    by: dict[str, list[str]] = {"better": [], "tie": [], "worse": [], "no interval": []}
    for one in related:
        by[one.verdict("Tuned recipe", one.best(one.rivals))].append(one.name)
    return by


def which(found: Iterable[Scored], method: str, other: str, verdict: str) -> list[str]:
    """The panels on which a method is `verdict` beside another."""
    return [one.name for one in found if one.verdict(method, other) == verdict]


def compared(found: Sequence[Scored], method: str, other: str) -> str:
    """On which panels a method is shown to be better than another, on which worse, and by how much at most."""
    better, worse = (which(found, method, other, word) for word in ("better", "worse"))
    tie, unknown = (which(found, method, other, word) for word in ("tie", "no interval"))
    gains = {one.name: 1 - one.brier(method) / one.brier(other) for one in found if one.name in better}
    most = max(gains, key=lambda name: gains[name], default="")
    size = ""
    if len(gains) == 1:
        size = f" (by {gains[most]:.1%} of its score)"
    elif gains:
        size = f" (by {min(gains.values()):.1%} to {gains[most]:.1%} of its score)"
    listed = f": {names(better)}" if 0 < len(better) <= MOST_NAMED else ""
    parts = [
        f"better than {other} on {len(better)} of {len(found)} panels{size}{listed}",
        f"worse on {names(worse)}" if worse else "worse on none",
        *([f"no difference is shown on {len(tie)}"] if tie else []),
        *([f"no interval on {len(unknown)}"] if unknown else []),
    ]
    return f"{method} is shown to be {'; '.join(parts)}."


def signed(one: Scored, method: str, other: str) -> str:
    """A difference with its interval, and a star where that excludes 0."""
    found = one.difference(method, other)
    if found.interval is None:
        return f"{found.difference:+.4f}"
    star = "*" if one.verdict(method, other) != "tie" else ""
    return f"{found.difference:+.4f} [{found.interval[0]:+.4f}, {found.interval[1]:+.4f}]{star}"


def names(panels: Iterable[str]) -> str:
    """Panels in a sentence."""
    return _and([f"`{name}`" for name in panels]) or "none"


def bullets(lines: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)


def _and(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def _unresolved(name: str, what: str, told: Sequence[str]) -> str:
    said = "".join(f" {line}" for line in told)
    return f"[{name}](evaluation/{name}.md): {what}.{said}"
