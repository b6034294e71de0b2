"""The pages of `make evaluate`, made from small panels: what they say follows the figures."""

import numpy as np
import pytest

import coherently as co
from coherently.scoring.candidates import Candidate
from coherently.scoring.comparison import compare_forecasts
from experiments.evaluation import details, front, scored, scraped
from experiments.evaluation.scored import METHODS, RIVALS, Scored

SHARP = 0.1
"""The error of a forecast of methods that are not said to err otherwise."""


def panel(variables=40, judges=3):
    rows = [(f"J{j}", f"e{i}", 0.5) for i in range(variables) for j in range(judges)]
    return co.Panel.from_records(rows, outcomes={f"e{i}": i % 2 for i in range(variables)})


def made(name="made", variables=40, kin=None, learned="a recipe", tied=2, moved=0.1, **errors):
    """A panel whose methods err by what is said (by their names in small letters), a little more on some events."""
    own = panel(variables)
    outcome = own.written.outcome[own.event_index].astype(float)
    wobble = np.where(own.event_index % 4 < 2, 0.01, -0.01)
    rows = [method for method in METHODS if learned or "Tuned" not in method]
    error = {method: errors.get(method.split()[0].lower(), SHARP) for method in rows}
    forecasts = np.stack([np.abs(outcome - error[method] * (1 + wobble * (k % 3))) for k, method in enumerate(rows)])
    scores = compare_forecasts(own, tuple(Candidate(method, "") for method in rows), forecasts)
    kept = None if learned else "All resolved events are true."
    return Scored(name, "a made panel", kin, scores, learned, kept, variables, 0.5, variables, tied, moved)


def row_of(text, name):
    head, *rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if "---" not in line
    ]
    return dict(zip(head, next(row for row in rows if name in row[0]), strict=True))


def test_the_best_is_bold_ties_are_said_and_the_rest_is_plain():
    row = row_of(front.first_table([made(tuned=0.05, raw=0.4)]), "made")
    assert row["tuned pool"].startswith("**.0025 ±.0")  # the first of equally good ones
    assert row["tuned recipe"].startswith(".0025 ±.0")
    assert row["tuned recipe"].endswith(" tie")
    assert row["raw"].startswith(".16")
    assert not row["raw"].endswith("tie")


def test_where_nothing_was_learned_the_cells_say_what_was_kept():
    row = row_of(front.first_table([made(learned=None)]), "made")
    assert row["tuned pool"] == "as default recipe"
    assert row["tuned recipe"] == "as default recipe"


def test_without_intervals_no_tie_is_claimed():
    one = made(variables=4, default=0.05)
    row = row_of(front.first_table([one]), "made")
    assert "±" not in "".join(row.values())
    assert "tie" not in "".join(row.values())
    assert one.verdict("Default recipe", "Raw") == "no interval"
    assert "not known: no interval" in front.steps_table([one])


def test_a_difference_that_is_not_shown_is_a_tie_whatever_its_interval():
    one = made(exact=SHARP + 1e-5)
    assert one.verdict("Exact", "Linear average") == "tie"
    assert "*" not in front.signed(one, "Exact", "Linear average")
    assert one.verdict("Raw", "Linear average") == "tie"


def test_the_promises_hold_or_fail_by_the_figures():
    said = "\n".join(front.promises([made(tuned=0.05, default=0.05, median=0.05, linear=0.2)]))
    # The median errs as the tuned recipe does: nothing is shown.
    assert "nowhere worse than the best rival by more than its interval*: **holds** on 1 of 1" in said
    assert "better on at least half of them*: **fails**: better on 0 of 1 (none), a tie on 1" in said
    assert "nowhere shown to be worse than linear averaging*: **holds**." in said
    assert "why:" not in said


def test_a_promise_that_fails_says_where_and_why():
    bad = made("behind", learned=None, default=0.3, log=0.05)
    fine, safe = made("fine", log=0.3), made("form", kin="fine", log=0.3)
    said = "\n".join(front.promises([bad, fine, safe]))
    assert "**fails** on `behind`, holds on 2 of 3 panels" in said
    assert "`behind`: Log pool has the lower score, by 0.08" in said
    assert "All resolved events are true." in said
    assert "Log pool is no safe choice: it is shown to be worse than the linear average on `fine` and `form`" in said
    assert "linear averaging*: **fails** on `behind`" in said
    assert "Counting the forms of one panel once: 0 of 2" in said


def test_panels_without_related_events_are_no_case():
    assert "alone" not in "\n".join(front.promises([made("alone", tied=0), made("both")]))


def test_conclusions_turn_with_the_figures():
    good = "\n".join(front.conclusions([made(default=0.05, tuned=0.02, exact=0.08)]))
    assert "**Without outcomes, use the default recipe**" in good
    assert "**With outcomes, let `coherently tune` learn" in good
    assert "Make the pool coherent, whichever it is.** That was never shown to hurt." in good
    bad = "\n".join(front.conclusions([made(default=0.3, exact=0.3)]))
    assert "**Without outcomes, no choice is safe.**" in bad
    assert "worse on `made`" in bad
    assert "it was shown to hurt on `made`" in bad
    nothing = "\n".join(front.conclusions([made(learned=None)]))
    assert "Nothing could be learned" in nothing
    assert "shown neither to help nor to hurt" in nothing


def test_gains_are_told_in_per_cent_of_the_score():
    said = front.compared([made(default=0.05), made("other", default=0.09)], "Default recipe", "Linear average")
    assert "better than Linear average on 2 of 2 panels (by 1" in said
    assert "to 7" in said


def test_coherence_that_changes_no_score_is_said_to_buy_nothing():
    assert "`made` (where it moves no probability by more than 0.002)" in front.conclusions([made(moved=0.002)])[-1]
    assert "No panel here is such" in front.conclusions([made(exact=0.05)])[-1]


def test_the_pools_that_win_and_those_that_are_risky_are_named():
    said = front.conclusions([made("a", median=0.05, log=0.3), made("b", trimmed=0.05)])[3]
    assert "No plain pool wins everywhere" in said
    assert "Median on `a`; Trimmed mean on `b`" in said
    assert "Log pool is shown to be worse than the linear average on `a`" in said
    assert "Never shown to be worse than it: Median, Trimmed mean." in said


def test_the_first_page_begins_with_the_table():
    parts = front.front([made()], {"people": "no outcomes"}, {"people": ["All of them err."]})
    assert parts[1].startswith("| panel | tuned recipe | default recipe | exact | linear |")
    assert "[people](evaluation/people.md): no outcomes. All of them err." in parts
    assert "evaluation/*" in parts[-1]


@pytest.fixture(scope="module")
def ladders():
    """Six groups of two events, one of which implies the other, by three judges who contradict themselves."""
    rows = [
        (f"J{j}", f"{kind}{i}", 0.2 + 0.1 * ((i + j) % 4) + 0.2 * (kind == "a"))
        for i in range(6)
        for j in range(3)
        for kind in "ab"
    ]
    outcomes = {f"{kind}{i}": int(i % 2 or kind == "b") for i in range(6) for kind in "ab"}
    return co.Panel.from_records(rows, outcomes=outcomes, laws=[f"a{i} -> b{i}" for i in range(6)])


def test_a_panel_with_few_groups_is_scored_with_what_they_teach(ladders):
    one = scored.score("ladders", ladders, of="ladders")
    assert "pool" in one.learned
    assert one.kept is None
    assert (one.groups, one.events, one.tied) == (6, 12, 12)
    assert one.share == pytest.approx(1 / 6)
    assert one.moved > 0.05
    assert set(one.shown) == set(METHODS)


def test_a_panel_of_one_group_is_scored_without_tuning(ladders):
    tied = ladders.select(np.isin(ladders.event_index, [0, 1]))
    one = scored.score("one", tied)
    assert "one component" in one.kept
    assert one.brier("Tuned recipe") == one.brier("Default recipe")
    exact = co.compare(tied, bootstrap=0)
    assert one.brier("Exact") == pytest.approx(exact.value[exact.methods.index("Aggregate (exact)"), 0])


def test_the_page_of_a_panel_has_all_its_parts(ladders):
    one = scored.score("ladders", ladders, of="made ladders")
    text = "\n\n".join(details.page(one, "About it.", ladders, ladders, ["## Extra"]))
    assert text.startswith("# ladders: made ladders\n\nAbout it.\n\n36 forecasts by 3 judges")
    for part in (
        "## Accuracy on events that taught nothing",
        "## Coherence of the judges",
        "## More methods",
        "## Extra",
    ):
        assert part in text
    assert "Of 3 judges: 3 incoherent." in text
    assert "`a -> b is a law, and P(a) is above P(b)` | 18 | 100% |" in text
    assert "Tuned recipe" in text
    assert "6 independent groups, the largest of which has 17% of the resolved forecasts; 12 of 12" in text


def test_many_judges_are_shown_by_five_of_them():
    rows = [(f"J{j}", event, 0.5 + 0.004 * j) for j in range(50) for event in ("p", "~p")]
    said, shown = details.coherence(co.Panel.from_records(rows))[:2]
    assert "Of 50 judges: 49 incoherent, 1 coherent." in said
    assert [line.split(" | ")[0] for line in shown.splitlines()[2:]] == ["| J0", "| J12", "| J24", "| J36", "| J49"]


def test_first_figures_are_reproduced_or_corrected_by_the_figures():
    ours = {**scraped.SECTION_14, "Tuned pool": 0.13, "Tuned recipe": 0.125}
    said = scraped._explained(ours, made())[0]
    assert "Reproduced to the fourth decimal: Linear average; Exact; Median, then exact." in said
    assert "Tuned pool is corrected: 0.1300 in place of 0.1277" in said
    assert "One group of related events has 50% of the forecasts" in said
    assert "3.8% of its score now" in said


def test_every_method_is_a_column():
    assert set(scored.POOLS) < set(METHODS)
    assert set(RIVALS) >= {"Linear average", "Exact", "Log pool, then exact", "Brier weights, Platt, then exact"}
    assert set(front.COLUMNS) == set(METHODS)
