"""A panel of experts that learns, round by round, how much each expert should count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coherently.errors import SHOWN, PanelError, counted
from coherently.online.learning_rules import LOSSES, RULES, LearningRule, find_rule
from coherently.viewed import Viewed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FORMAT, VERSION = "coherently-online", 1
Forecasts: TypeAlias = "Mapping[str, Any] | ArrayLike"


class OnlinePanel(Viewed):
    """Experts who forecast in rounds, and a prediction that does nearly as well as the best of them.

    `experts` are their names. `predict` takes the forecasts of each expert for one event or for several; `update` takes
    what came true and changes the weights. `rule` is "vovk" (the best for the Brier score), "exponential" or
    `co.Hedge(rounds=...)`. Whatever happens, the loss so far exceeds that of any expert by at most
    `rule.bound(len(experts))`. The loss of a round with several events is the mean of their losses.

    Experts may abstain (None, NaN, or left out of a mapping): such an expert is "asleep". The awake experts make the
    prediction, and only their weights change, with the same sum; the bound holds for each expert over the events that
    the expert forecast (Freund, Schapire, Singer and Warmuth 1997; Chernov and Vovk 2009).

    >>> panel = OnlinePanel(["Ann", "Bob"])
    >>> panel.predict({"Ann": 0.9, "Bob": 0.3})
    0.567...
    >>> round(panel.update(1), 6)
    0.186722
    >>> {name: round(weight, 3) for name, weight in panel.weights.items()}
    {'Ann': 0.723, 'Bob': 0.277}
    >>> {name: round(regret, 3) for name, regret in panel.regret.items()}
    {'Ann': 0.177, 'Bob': -0.303}
    """

    def __init__(self, experts: Sequence[str], rule: str | LearningRule = "vovk") -> None:
        names = list(experts) if not isinstance(experts, str) else [experts]
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise PanelError("experts must be one or more different names")
        self.experts = tuple(names)
        self.rule = find_rule(rule)
        self.rounds = 0
        self.loss = 0.0
        """The sum over rounds of the losses of the predictions."""
        self._log_weight = np.full(len(names), -np.log(len(names)))
        self._regret = np.zeros(len(names))
        self._pending: NDArray[np.float64] | None = None
        self._single = True

    def __repr__(self) -> str:
        return f"<OnlinePanel: {counted(len(self.experts), 'expert')} after {counted(self.rounds, 'round')}>"

    @property
    def weights(self) -> dict[str, float]:
        """How much each expert counts; the weights sum to 1."""
        return dict(zip(self.experts, np.exp(self._log_weight).tolist(), strict=True))

    @property
    def regret(self) -> dict[str, float]:
        """The loss of the predictions minus that of each expert, over the events that the expert forecast."""
        return dict(zip(self.experts, self._regret.tolist(), strict=True))

    def predict(self, forecasts: Forecasts) -> float | NDArray[np.float64]:
        """Predict from the forecasts of this round: a mapping from expert, or an array with one row per expert.

        For several events the array has one column per event, and the prediction is an array. An event that nobody
        forecasts is NaN. Another call before `update` replaces the round's forecasts.
        """
        table = self._table(forecasts)
        self._single = table.ndim == 1
        self._pending = table.reshape(len(self.experts), -1)
        found = self._predict(self._pending)
        return float(found[0]) if self._single else found

    def update(self, outcome: ArrayLike) -> float:
        """Learn what came true: 1 or 0 for each event of the round (None or NaN: not known, so not counted).

        Returns the loss of the round.
        """
        if self._pending is None:
            raise PanelError("there is no round to learn from: call predict with the forecasts first")
        forecast = self._pending
        known = self._outcomes(outcome, forecast.shape[1])
        scored = ~np.isnan(known) & ~np.isnan(forecast).all(axis=0)
        self._pending = None
        self.rounds += 1
        if not scored.any():
            return 0.0
        return self._learn(forecast[:, scored], known[scored])

    def _learn(self, forecast: NDArray[np.float64], outcome: NDArray[np.float64]) -> float:
        """Change the weights by the mean losses; a sleeping expert counts as losing what the awake mixture loses."""
        rate, measure = self.rule.rate(len(self.experts)), LOSSES[self.rule.loss]
        own = measure(self._predict(forecast) - outcome)
        lost, awake = measure(forecast - outcome), ~np.isnan(forecast)
        weight = self._awake_weights(forecast)
        mixed = np.sum(weight * np.exp(-rate * np.where(awake, lost, 0.0)), axis=0)
        mixture = -np.log(mixed) / rate if rate > 0 else own
        self._log_weight = self._log_weight - rate * np.where(awake, lost, mixture).mean(axis=1)
        self._log_weight -= np.logaddexp.reduce(self._log_weight)
        self._regret += np.where(awake, own - lost, 0.0).mean(axis=1)
        self.loss += float(own.mean())
        return float(own.mean())

    def _predict(self, forecast: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.rule.predict(self._awake_weights(forecast), forecast, self.rule.rate(len(self.experts)))

    def _awake_weights(self, forecast: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weights of the experts who forecast an event, which sum to 1; NaN where nobody does."""
        asleep = np.isnan(forecast)
        logs = np.where(asleep, -np.inf, self._log_weight[:, None])
        with np.errstate(invalid="ignore"):
            weight: NDArray[np.float64] = np.exp(logs - np.logaddexp.reduce(logs, axis=0))
        return weight

    def _table(self, forecasts: Forecasts) -> NDArray[np.float64]:
        if isinstance(forecasts, Mapping):
            unknown = [str(name) for name in forecasts if name not in self.experts]
            if unknown:
                raise PanelError(
                    f"unknown expert {', '.join(map(repr, unknown[:SHOWN]))}; the experts are "
                    f"{', '.join(self.experts[:SHOWN])}{' ...' * (len(self.experts) > SHOWN)}"
                )
            width = max((np.size(value) for value in forecasts.values() if np.ndim(value)), default=None)
            absent = np.nan if width is None else [np.nan] * width
            given = [forecasts.get(name) for name in self.experts]
            forecasts = [absent if value is None else value for value in given]
        table = _floats(forecasts, "forecasts")
        if table.ndim not in (1, 2) or len(table) != len(self.experts) or 0 in table.shape:
            raise PanelError(
                f"the forecasts have the shape {table.shape}; they must have one row for each of "
                f"{len(self.experts):,} experts and, for several events, one column per event"
            )
        wrong = np.argwhere(~(np.isnan(table) | ((table >= 0) & (table <= 1))))
        if len(wrong):
            first = tuple(wrong[0].tolist())
            raise PanelError(f"the forecast of {self.experts[first[0]]} is {table[first]}; it must lie in [0, 1]")
        return table

    def _outcomes(self, outcome: ArrayLike, width: int) -> NDArray[np.float64]:
        known = _floats(outcome, "outcomes")
        if known.shape not in ((width,), () if self._single else (width,)):
            raise PanelError(f"the outcomes have the shape {known.shape}; the round has {width:,} events")
        known = known.reshape(width)
        wrong = known[~(np.isnan(known) | (known == 0) | (known == 1))]
        if len(wrong):
            raise PanelError(f"the outcome is {wrong[0]}; it must be 1 (came true), 0, or None (not known)")
        return known

    def to_json(self) -> str:
        """Everything, including a round that waits for its outcome, so that `from_json` can continue from here."""
        words = [word for word, kind in RULES.items() if type(self.rule) is kind]
        if not words:
            raise PanelError(f"the rule {self.rule!r} is not part of the package and cannot be written")
        pending = None if self._pending is None else [_nullable(row) for row in self._pending]
        record = {
            "format": FORMAT,
            "version": VERSION,
            "rule": {"name": words[0], **asdict(self.rule)},  # type: ignore[call-overload]
            "rounds": self.rounds,
            "loss": self.loss,
            "experts": [
                {"name": name, "log_weight": weight, "regret": regret}
                for name, weight, regret in zip(
                    self.experts, self._log_weight.tolist(), self._regret.tolist(), strict=True
                )
            ],
            "pending": pending,
            "single": self._single,
        }
        return json.dumps(record, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> OnlinePanel:
        """Read what `to_json` wrote.

        >>> panel = OnlinePanel(["Ann", "Bob"])
        >>> panel.predict([0.9, None])
        0.9
        >>> again = OnlinePanel.from_json(panel.to_json())
        >>> round(again.update(True), 6), again.weights == {"Ann": 0.5, "Bob": 0.5}
        (0.01, True)
        """
        try:
            record = json.loads(text)
            if (record["format"], record["version"]) != (FORMAT, VERSION):
                raise PanelError(f"the record is {record['format']!r}, version {record['version']}, not {FORMAT!r}, 1")
            options = dict(record["rule"])
            experts = record["experts"]
            panel = OnlinePanel([expert["name"] for expert in experts], RULES[options.pop("name")](**options))
            panel.rounds, panel.loss = int(record["rounds"]), float(record["loss"])
            panel._log_weight = np.array([float(expert["log_weight"]) for expert in experts])
            panel._regret = np.array([float(expert["regret"]) for expert in experts])
            panel._single = bool(record["single"])
            if record["pending"] is not None:
                panel._pending = panel._table(record["pending"])
        except (KeyError, TypeError, ValueError) as error:
            raise PanelError(f"this is not an OnlinePanel as to_json writes it ({error!r})") from error
        return panel


def _nullable(row: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else value for value in row.tolist()]


def _floats(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """Numbers as an array, None as NaN."""
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise PanelError(f"the {what} are not numbers in equal rows ({error})") from error
