"""What a live panel promises while it changes: last answers, what is stale, who is told, and what is refused."""

import gc
import logging
import threading

import numpy as np
import pytest

import coherently as co
from coherently.live import workshop

ROWS = [("Ann", "p", 0.6), ("Bob", "p & q", 0.7), ("Ann", "r", 0.3)]


@pytest.fixture
def live():
    with co.LivePanel(co.Panel.from_records(ROWS), background=False) as panel:
        panel.settle()
        yield panel


def test_the_last_answer_is_there_until_the_next_one_is(live):
    before = live.current().probability("p")
    live.revise("Bob", "q & p", 0.1)
    now = live.current()
    assert (now.probability("p"), now.stale, now.is_settled, now.revision) == (before, ("p",), False, 1)
    assert now.is_stale("p")
    assert now.is_stale("~q")
    assert not now.is_stale("r")
    assert co.verify(now.result().panel, now.result())  # of the forecasts before the revision
    assert live.settle().probability("p") == 0.6
    assert live.current().is_settled


def test_a_current_keeps_the_answers_of_its_moment(live):
    first = live.current()
    old = {event: first.probability(event) for event in ("p", "p & q", "r")}
    live.add("Cid", "q & r", 0.9)
    live.withdraw("Ann", "r")
    second = live.settle()
    live.withdraw("Cid", "q & r")
    live.revise("Ann", "p", 0.1)
    third = live.settle()
    assert {event: first.probability(event) for event in old} == old
    np.testing.assert_array_equal(first.result().solution.value, [old["p"], old["p & q"], old["r"]])
    assert second.probability("q & r") == second.result().probability("q & r")
    with pytest.raises(co.EventError, match="nobody forecast 'r'"):
        second.probability("r")
    with pytest.raises(co.EventError, match="nobody forecast 'q & r'"):
        third.probability("q & r")
    assert third.result().panel.judges == ("Ann", "Bob")


def test_only_the_touched_component_is_solved_again(live):
    live.revise("Ann", "r", 0.5)
    shelf = live._workshop.shelf
    other, mine = shelf.find(["p"]), shelf.find(["r"])
    live.settle()
    assert shelf.find(["p"]) is other
    assert shelf.find(["r"]) is not mine


def test_components_join_and_fall_apart(live):
    assert len(live.current().result().components) == 2
    live.add("Cid", "q | r", 0.4)
    assert len(live.settle().result().components) == 1
    live.withdraw("Cid", "q | r")
    assert len(live.settle().result().components) == 2
    live.add_law("r -> p")
    assert len(live.settle().result().components) == 1
    live.drop_law("r -> p  # as a comment says")
    assert len(live.settle().result().components) == 2


def test_a_component_has_its_certificate(live):
    component = live.current().component("~(p & q)")
    assert (component.variables, component.events, component.coherence) == (2, 2, "global")
    assert 0 <= component.objective - component.lower_bound <= 1e-6
    assert live.current().component("r").objective == 0


def test_complements_and_constants_have_probabilities(live):
    now = live.current()
    assert now.probability("~r") == 1 - 0.3
    assert (now.probability("true"), now.probability("q & ~q"), now.probability("p given p & q")) == (1, 0, 1)


def test_the_whole_result_is_that_of_aggregate(live):
    result, scratch = live.current().result(), co.aggregate(live.panel())
    assert result.method == scratch.method
    np.testing.assert_array_equal(result.solution.value, scratch.solution.value)
    assert result.components == scratch.components
    assert result.to_json() == scratch.to_json()


@pytest.mark.parametrize("loss", ["log", "spherical"])
def test_other_losses_are_kept(loss):
    with co.LivePanel(co.Panel.from_records(ROWS), loss=loss, background=False) as live:
        live.revise("Bob", "p & q", 0.8)
        result = live.settle().result()
        assert result.loss.name == loss
        assert co.verify(live.panel(), result).problems == []


def test_an_empty_panel_fills():
    with co.LivePanel(background=False) as live:
        with pytest.raises(co.PanelError, match="no forecast is solved yet"):
            live.settle().result()
        live.add("Ann", "p", "35%", weight=2)
        assert live.settle().probability("p") == 0.35
        live.withdraw("Ann", "p")
        with pytest.raises(co.EventError, match="nobody forecast 'p'"):
            live.settle().probability("p")
        assert repr(live) == "<LivePanel: 0 forecasts after 2 revisions, 0 components being solved>"


def test_plain_names_are_kept_in_quotes():
    panel = co.Panel.from_records([("Ann", "S&P 500 up", 0.6), ("Bob", "rain", 0.2)], plain_events=True)
    with co.LivePanel(panel, background=False) as live:
        assert live.settle().probability('"S&P 500 up"') == 0.6
        live.add("Ann", '"S&P 500 up" & rain', 0.5)
        assert live.settle().probability("rain") == pytest.approx(0.35)


def test_repeats_of_one_judge_are_revised_and_withdrawn_together():
    rows = [("Ann", "p", 0.2), ("Ann", "p", 0.4), ("Bob", "p", 0.9)]
    with co.LivePanel(co.Panel.from_records(rows), background=False) as live:
        live.revise("Ann", "p", 0.3, weight=3)
        assert live.panel().probability.tolist() == [0.3, 0.9]
        assert live.settle().probability("p") == pytest.approx((3 * 0.3 + 0.9) / 4)
        live.withdraw("Ann", "p")
        assert live.panel().judges == ("Bob",)


def test_outcomes_are_for_scores(live):
    answer = live.current().probability("p")
    live.resolve("p & q", True)
    assert live.panel().written.outcome.tolist() == [1, 1, -1]
    assert live.settle().probability("p") == answer
    with pytest.raises(co.PanelError, match="these outcomes contradict each other"):
        live.resolve("p", False)
    live.resolve("p & q", None)
    live.resolve("p", 0)
    assert live.panel().written.outcome.tolist() == [0, 0, -1]
    assert co.score(live.panel()).frame() is not None


def test_a_declared_variable_resolves_to_a_value():
    panel = co.Panel.from_records([("Ann", "w = a", 0.5), ("Ann", "w = b", 0.6)], laws=["variable w: a, b, c"])
    with co.LivePanel(panel, background=False) as live:
        live.resolve("w", "b")
        assert live.panel().written.outcome.tolist() == [0, 1]
        with pytest.raises(co.CoherentlyError, match="'d'"):
            live.resolve("w", "d")


def test_outcomes_of_the_first_panel_stay():
    rows = [("Ann", "p given q", 0.5), ("Ann", "r", 0.6)]
    with co.LivePanel(co.Panel.from_records(rows, outcomes={"q": 0, "r": 1}), background=False) as live:
        assert live.panel().written.outcome.tolist() == [-2, 1]


def test_as_of_is_the_panel_as_it_stood():
    rows = [{"judge": "Ann", "event": "p", "probability": 0.2, "time": 10}]
    with co.LivePanel(co.Panel.from_records(rows), background=False) as live:
        live.add("Bob", "p", 0.6, time=20)
        live.add_law("variable w: a, b", time=25)
        live.add("Bob", "w = a", 0.9, time=30)
        live.revise("Ann", "p", 1.0, time="1970-01-01T00:00:40")
        live.withdraw("Bob", "w = a", time=50)
        live.drop_law("variable w: a, b", time=60)
        assert live.as_of(10).probability("p") == 0.2
        assert live.as_of(29.5).probability("p") == pytest.approx(0.4)
        assert live.as_of(45).frame().event.tolist() == ["p", "w = a"]
        assert live.as_of(50).probability("p") == pytest.approx(0.8)
        np.testing.assert_array_equal(live.as_of(60).solution.value, live.settle().result().solution.value)
        with pytest.raises(co.PanelError, match="no forecast stood at the time 9"):
            live.as_of(9)
        with pytest.raises(co.PanelError, match=r"time is 59, before the last revision \(60.0\)"):
            live.revise("Ann", "p", 0.5, time=59)


def test_listeners_are_told_what_changed_and_by_how_much(live):
    heard = []
    stop = live.subscribe(heard.append)
    live.revise("Bob", "p & q", 0.2)
    live.add("Cid", "s", 0.4)
    live.settle()
    change, new = heard
    assert change.revision == 2
    assert [shift.event for shift in change.shifts] == ["p & q", "p"]
    assert [shift.by for shift in change.shifts] == pytest.approx([-0.45, -0.05])
    assert new.shifts == (co.Shift("s", None, 0.4),)
    live.withdraw("Cid", "s")
    live.settle()
    assert heard[-1].shifts == (co.Shift("s", 0.4, None),)
    live.revise("Ann", "r", 0.3)  # as before
    live.settle()
    assert len(heard) == 3
    stop()
    live.revise("Ann", "r", 0.9)
    live.settle()
    assert len(heard) == 3


def test_a_failing_listener_hurts_nobody(live, caplog):
    heard = []
    live.subscribe(lambda _: 1 / 0)
    live.subscribe(heard.append)
    live.revise("Ann", "r", 0.9)
    with caplog.at_level(logging.ERROR, "coherently.live"):
        assert live.settle().probability("r") == 0.9
    assert len(heard) == 1
    assert "a listener of a live panel failed" in caplog.text


def test_a_listener_may_revise():
    with co.LivePanel(co.Panel.from_records(ROWS)) as live:
        live.settle()
        live.subscribe(lambda change: change.revision == 1 and live.revise("Ann", "p", 0.1))
        live.revise("Ann", "r", 0.9)
        now = live.settle(60)
        assert (now.revision, now.is_settled) == (2, True)
        assert live.panel().probability.tolist() == [0.1, 0.7, 0.9]


def test_pins_that_contradict_each_other_leave_the_last_answer(live):
    live.add_law("P(p) <= 0.3")
    last = live.settle()
    live.add_law("P(p & q) >= 0.5")
    now = live.settle()
    assert now.probability("p") == last.probability("p")
    assert not now.is_settled
    assert now.is_stale("q")
    (problem,) = now.problems
    assert problem.startswith("'p': ContradictionError: no coherent forecasts satisfy these pins")
    assert co.verify(now.result().panel, now.result())
    live.drop_law("P(p & q) >= 0.5")
    assert live.settle().problems == ()


def test_a_bug_in_the_solver_does_not_end_the_thread(monkeypatch, caplog):
    with co.LivePanel(co.Panel.from_records(ROWS)) as live:
        live.settle(60)
        with monkeypatch.context() as patch:
            patch.setattr("coherently.live.workshop.solve", lambda *_: 1 / 0)
            live.revise("Ann", "r", 0.9)
            assert live.settle(60).problems == ("'r': ZeroDivisionError: division by zero",)
        assert live.current().probability("r") == 0.3
        live.revise("Ann", "r", 0.8)
        assert live.settle(60).probability("r") == 0.8
    assert "could not be solved" in caplog.text


def test_current_never_waits_for_the_solver(monkeypatch):
    go, solve = threading.Event(), workshop.solve

    def slow(*arguments):
        go.wait(60)
        return solve(*arguments)

    with co.LivePanel(co.Panel.from_records(ROWS)) as live:
        live.settle(60)
        monkeypatch.setattr(workshop, "solve", slow)
        live.revise("Ann", "r", 0.9)
        assert live.current().probability("r") == 0.3
        assert live.settle(0.01).stale == ("r",)
        live.revise("Ann", "r", 0.8)  # while it is being solved
        go.set()
        assert live.settle(60).probability("r") == 0.8


def test_many_small_components_stay_within_the_tolerance_of_the_whole():
    with co.LivePanel(background=False) as live:
        for i in range(70):
            live.add("Ann", f"a{i}", 0.4)
            live.add("Bob", f"a{i} & b{i}", 0.7)
            live.settle()
        assert live._workshop._room == 128
        assert live.current().result().status == "optimal"


def test_weights_may_be_of_any_size_in_their_range():
    rows = [
        ("Ann", "p", 0.6, 1e-40),
        ("Bob", "p & q", 0.7, 2e-40),
        ("Ann", "r", 0.3, 1e50),
        ("Ann", "r & s", 0.4, 1e50),
    ]
    with co.LivePanel(co.Panel.from_records(rows), background=False) as live:
        scratch = co.aggregate(live.panel())
        np.testing.assert_allclose(live.settle().result().solution.value, scratch.solution.value, atol=1e-7)
        live.add("Cid", "q & s", 0.9, weight=3.0)
        scratch, result = co.aggregate(live.panel()), live.settle().result()
        np.testing.assert_allclose(result.solution.value, scratch.solution.value, atol=1e-7)


def test_threads_that_revise_at_once_end_in_one_state(tmp_path):
    events = ["a", "b", "a & b", "b | c", "d", "d & e", "f"]
    with co.LivePanel(co.Panel.from_records([("Zoe", "a", 0.5)]), co.Exact(), log=tmp_path / "book.log") as live:

        def work(number):
            rng = np.random.default_rng(number)
            judge, standing = f"judge {number}", set()
            for _ in range(40):
                event = str(rng.choice(events))
                if event not in standing:
                    live.add(judge, event, float(rng.random()))
                    standing.add(event)
                elif rng.random() < 0.3:
                    live.withdraw(judge, event)
                    standing.remove(event)
                else:
                    live.revise(judge, event, float(rng.random()))
                live.current().probability("a")
            counts[number] = len(standing)

        counts = {}
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        now = live.settle(60)
        assert (now.revision, now.is_settled) == (160, True)
        panel = live.panel()
        assert len(panel) == 1 + sum(counts.values())
        scratch = co.aggregate(panel, co.Exact())
        np.testing.assert_allclose(now.result().solution.value, scratch.solution.value, atol=1e-7)
    with co.LivePanel.open(tmp_path / "book.log", background=False) as again:
        assert again.panel() == panel


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda live: live.add("Ann", "p", 0.5), "Ann has already forecast 'p': 0.6; call revise to change it"),
        (lambda live: live.add("Cid", "p &", 0.5), "'p &': "),
        (lambda live: live.add("Cid", "p", 1.5), "probability: 1.5 is above 1"),
        (lambda live: live.add("Cid", "p", float("nan")), "probability: no probability"),
        (lambda live: live.add("Cid", "p", "much"), "probability: 'much' is not a number"),
        (lambda live: live.add("Cid", "p"), "there is no probability: give one, or an interval"),
        (lambda live: live.add("Cid", "p", lower=0.6, upper=0.5), "lower is 0.6 and upper is 0.5"),
        (lambda live: live.add("Cid", "p", 0.9, lower=0.2, upper=0.5), "probability 0.9 is outside its own interval"),
        (
            lambda live: live.add("Cid", "p", 0.5, weight=-1),
            r"weight is -1\. A weight is 0, or a number from 1e-50 to 1e50",
        ),
        (lambda live: live.add("Cid", "p", 0.5, weight=float("inf")), "weight is inf"),
        (lambda live: live.add("", "p", 0.5), "judge is ''; it must be a text"),
        (lambda live: live.add("Cid", 7, 0.5), "event is 7; it must be a text"),
        (lambda live: live.add("Cid", "p", 0.5, time="soon"), "time is 'soon'; it must be a number or an ISO date"),
        (lambda live: live.revise("Ana", "p", 0.5), r"unknown judge 'Ana' \(did you mean 'Ann'\?\); 2 judges have"),
        (lambda live: live.revise("Bob", "p", 0.5), "Bob has no forecast of 'p' to revise: Bob has 1 forecast"),
        (lambda live: live.withdraw("Bob", "~p"), "Bob has no forecast of '~p' to withdraw"),
        (lambda live: live.withdraw("Bob", "winner = Ann"), "'winner = Ann': "),
        (lambda live: live.resolve("rain", True), "no forecast or law is about 'rain'"),
        (lambda live: live.resolve("p", 0.5), "is not an outcome"),
        (lambda live: live.resolve("p", None), "'p' has no outcome to take back"),
        (lambda live: live.resolve("p", [1]), "outcome is "),
        (lambda live: live.add_law("p & ~p"), "this law can never be true"),
        (lambda live: live.add_law("# nothing"), "it must be one statement"),
        (lambda live: live.add_law("P(p) = 2"), "'2' is above 1"),
        (lambda live: live.add_law("variable p: a, b"), "'p'"),
        (lambda live: live.add_law("variable w"), "'variable w': "),
        (lambda live: live.drop_law("p -> q"), "unknown law 'p -> q'; the panel has 0 laws"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(live, call, message):
    before, panel = live.current().revision, live.panel()
    with pytest.raises(co.CoherentlyError, match=message):
        call(live)
    assert (live.current().revision, live.current().is_settled) == (before, True)
    assert live.panel() == panel


def test_laws_that_would_be_broken_are_refused(live):
    live.add_law("p -> r")
    with pytest.raises(co.ContradictionError, match="the laws contradict each other"):
        live.add_law("p & ~r")
    live.add("Cid", "s given p", 0.5)
    with pytest.raises(co.PanelError, match="'s given p': the condition after 'given' can never be true"):
        live.add_law("~p")
    live.add_law("~(r & t)")
    with pytest.raises(co.PanelError, match="can never be true under the laws"):
        live.add("Cid", "s given p & t", 0.5)
    live.add_law("variable w: a, b")
    live.add("Cid", "w = a | p", 0.5)
    with pytest.raises(co.PanelError, match=r"'variable w: a, b' cannot be dropped: 'w = a \| p': "):
        live.drop_law("variable w: a, b")
    assert live.settle().is_settled


def test_only_methods_that_solve_component_by_component_are_taken():
    with pytest.raises(co.MethodError, match="method may be auto or exact, not dykstra"):
        co.LivePanel(method="dykstra")
    with pytest.raises(co.MethodError, match="linearised conditionals need the loss brier"):
        co.LivePanel(method=co.Exact(conditionals="linearised"), loss="log")
    with pytest.raises(co.PanelError, match="LivePanel needs a Panel, or nothing, found list"):
        co.LivePanel([("Ann", "p", 0.5)])


def test_a_closed_panel_keeps_its_answers_and_takes_no_more():
    live = co.LivePanel(co.Panel.from_records(ROWS))
    live.settle(60)
    live.close()
    live.close()
    assert live.current().probability("r") == 0.3
    with pytest.raises(co.PanelError, match="this live panel is closed"):
        live.revise("Ann", "r", 0.5)


def test_a_panel_that_nobody_holds_ends_its_thread():
    live = co.LivePanel(co.Panel.from_records(ROWS))
    worker = live._workshop._worker
    now = live.settle(60)
    del live
    gc.collect()
    worker.join(60)
    assert not worker.is_alive()
    assert now.probability("r") == 0.3


def test_a_moment_stays_whatever_goes_and_comes_back(live):
    moments = []
    for p in (0.1, 0.2, 0.3):
        live.revise("Ann", "r", p)
        moments.append((live.settle(), p))
        live.revise("Ann", "r", 0.9)  # nobody reads this one
        live.settle()
        live.withdraw("Ann", "r")
        moments.append((live.settle(), None))
        live.add("Ann", "r", 0.8)
        live.settle()
    for now, p in moments:
        if p is None:
            with pytest.raises(co.EventError, match="nobody forecast 'r'"):
                now.probability("r")
            assert "r" not in now.result().panel.written.text
        else:
            assert now.probability("~r") == 1 - p
            assert now.result().probability("r") == p
    shelf = live._workshop.shelf
    depth, edition = 0, shelf.find(["r"])
    while edition.replaces:
        depth, edition = depth + 1, edition.replaces[0]
    assert depth <= len(moments) + 1
    del moments, now
    gc.collect()
    live.withdraw("Ann", "r")
    live.settle()
    assert "r" not in shelf._last
    assert shelf.count == 1
