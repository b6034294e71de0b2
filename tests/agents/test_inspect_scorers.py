"""The scorer and the metrics for inspect-ai, by its published types, and with the real package where it is there."""

import asyncio
import importlib.util
import math
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import pytest

import coherently as co

IS_THERE = importlib.util.find_spec("inspect_ai") is not None
ANSWERS = [
    ("rain", "Probability: 30%", "no"),
    ("rain & wind", "I say 0.5, so the probability is 0.5", "no"),
    ("wind", "about 60 %", "yes"),
    ("snow", "I cannot tell.", ""),
]


@dataclass
class StandInScore:
    value: float
    answer: str | None = None
    explanation: str | None = None
    metadata: dict = field(default_factory=dict)


@pytest.fixture
def package(monkeypatch):
    """A module with the four names that are used, as they are published."""
    scorers = ModuleType("inspect_ai.scorer")
    scorers.Score = StandInScore

    def scorer(metrics, name=None):
        def decorate(make):
            def made():
                score = make()
                score.metrics, score.name = metrics, name
                return score

            return made

        return decorate

    def metric(name=None):
        return lambda make: setattr(make, "title", name) or make

    scorers.scorer, scorers.metric = scorer, metric
    whole = ModuleType("inspect_ai")
    whole.scorer = scorers
    monkeypatch.setitem(sys.modules, "inspect_ai", whole)
    monkeypatch.setitem(sys.modules, "inspect_ai.scorer", scorers)


def state(event, completion):
    return SimpleNamespace(
        output=SimpleNamespace(completion=completion),
        metadata={"event": event} if event else {},
        input_text="Will it\nrain?",
    )


def scored():
    score = co.agents.forecast_scorer(laws=["snow -> wind"])
    made = [asyncio.run(score(state(event, answer), SimpleNamespace(text=target))) for event, answer, target in ANSWERS]
    return score, made


@pytest.mark.usefixtures("package")
def test_probabilities_are_read_and_the_metrics_are_the_distance_and_the_brier_score():
    score, made = scored()
    assert [one.value for one in made[:3]] == [0.3, 0.5, 0.6]
    assert math.isnan(made[3].value)
    assert [one.metadata["outcome"] for one in made] == [0.0, 0.0, 1.0, None]
    samples = [SimpleNamespace(score=one) for one in made]
    incoherence, brier = (metric(samples) for metric in score.metrics)
    assert brier == pytest.approx((0.3**2 + 0.5**2 + 0.4**2) / 3)
    assert incoherence == pytest.approx(2 * 0.1**2 / 3)  # rain & wind and rain meet at 0.4
    assert [metric(samples[3:]) for metric in score.metrics] == [0.0, 0.0]
    whole = [SimpleNamespace(score=one) for one in (made[0], made[2])]
    assert score.metrics[0](whole) == 0.0


@pytest.mark.usefixtures("package")
def test_a_sample_without_an_event_is_one_variable_of_its_own_words():
    score = co.agents.forecast_scorer()
    found = asyncio.run(score(state(None, "0.4"), SimpleNamespace(text="")))
    assert found.metadata == {"event": '"Will it rain?"', "outcome": None}


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(co.MissingDependencyError, match="pip install inspect-ai"):
        co.agents.forecast_scorer()


if IS_THERE:

    def test_an_evaluation_with_the_real_package_has_both_metrics(tmp_path):
        from inspect_ai import Task, eval  # noqa: A004
        from inspect_ai.dataset import Sample
        from inspect_ai.model import ModelOutput
        from inspect_ai.solver import solver

        answers = {event: answer for event, answer, _ in ANSWERS}

        @solver
        def answered():
            async def solve(state, _):
                state.output = ModelOutput.from_content("mockllm/model", answers[state.metadata["event"]])
                return state

            return solve

        samples = [
            Sample(input=f"P({event})?", target=target, metadata={"event": event}) for event, _, target in ANSWERS
        ]
        task = Task(dataset=samples, solver=answered(), scorer=co.agents.forecast_scorer(laws=["snow -> wind"]))
        (log,) = eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")
        assert log.status == "success", log.error
        metrics = log.results.scores[0].metrics
        assert metrics["incoherence"].value == pytest.approx(2 * 0.1**2 / 3)
        assert metrics["brier"].value == pytest.approx((0.3**2 + 0.5**2 + 0.4**2) / 3)
