"""Random small panels, each with laws and a question, and what Python answers: the other side of the comparison."""

from dataclasses import dataclass, replace

import numpy as np

import coherently as co

PAIRS = ("{} & {}", "{} | {}", "{} -> {}", "{} ^ {}", "{} <-> {}", "{} & ~{}")
LAWS = ("{} -> {}", "~({} & {})", "{} | {}")


@dataclass(frozen=True, slots=True)
class RandomPanel:
    """Rows of judge, event and probability; laws; and the event that is asked about."""

    rows: tuple[tuple[str, str, float], ...]
    laws: tuple[str, ...]
    question: str

    @property
    def table(self) -> str:
        """The rows as a person would paste them, separated by tabs, so that no event needs quotes."""
        return "".join(f"{judge}\t{event}\t{number!r}\n" for judge, event, number in self.rows)


def random_panel(seed: int) -> RandomPanel:
    """The panel of a seed; one that Python refuses is drawn again."""
    draw = np.random.default_rng([seed, 20261118])
    while True:
        panel = _drawn(draw)
        try:
            own = co.Panel.from_records(panel.rows, laws=panel.laws)
        except co.PanelError:
            continue
        return _mended(draw, panel, own) if draw.random() < 0.3 else panel


def _mended(draw: np.random.Generator, panel: RandomPanel, own: co.Panel) -> RandomPanel:
    """The panel with coherent numbers, but for their decimals."""
    result, decimals = co.aggregate(own, co.Exact()), _pick(draw, (2, 3, 4, 6, 17))
    rows = ((judge, event, round(float(result.probability(event)), decimals)) for judge, event, _ in panel.rows)
    return replace(panel, rows=tuple(rows))


def _drawn(draw: np.random.Generator) -> RandomPanel:
    given, large = draw.random() < 0.3, draw.random() < 0.2
    names = [f"v{i}" for i in range(int(draw.integers(2, 5 if given else 9)))]
    laws = _declarations(draw) if draw.random() < 0.25 else []
    atoms = names + [atom for law in laws for atom in _atoms(law)]
    laws += [_pick(draw, LAWS).format(*_some(draw, atoms, 2)) for _ in range(int(draw.integers(0, 3)))]
    if len(names) > 2 and draw.random() < 0.2:
        laws.append(f"at_most(1; {', '.join(_some(draw, names, 3))})")
    events = sorted({_event(draw, atoms) for _ in range(int(draw.integers(2, 25 if large else 9)))})
    if given:
        events += sorted({f"{_event(draw, atoms)} given {_pick(draw, atoms)}" for _ in range(2)})
    rows = []
    for judge in range(int(draw.integers(1, 5))):
        decimals = _pick(draw, (1, 2, 2, 3, 4, 17))
        asked = [event for event in events if draw.random() < 0.8]
        rows += [(f"judge {judge}", event, round(float(draw.random()), decimals)) for event in asked]
    if not rows:
        return _drawn(draw)
    return RandomPanel(tuple(rows), tuple(laws), _question(draw, atoms))


def _pick(draw: np.random.Generator, some):
    return some[int(draw.integers(len(some)))]


def _some(draw: np.random.Generator, names: list[str], count: int) -> list[str]:
    return [names[i] for i in draw.permutation(len(names))[:count]]


def _declarations(draw: np.random.Generator) -> list[str]:
    return [_pick(draw, ("variable won: Ann, Bob, Cid", "variable won: Ann, Bob, ...", "variable won: number"))]


def _atoms(declaration: str) -> list[str]:
    if declaration.endswith("number"):
        return ["(won < 3)", "(won >= 5)", "(won < 7.5)"]
    return ["(won = Ann)", "(won in {Ann, Bob})", "(won != Bob)"]


def _event(draw: np.random.Generator, atoms: list[str]) -> str:
    kind = draw.random()
    if kind < 0.4:
        return _pick(draw, ("{}", "{}", "~{}")).format(_pick(draw, atoms))
    if kind < 0.85 or len(atoms) < 3:
        return f"({_pick(draw, PAIRS).format(*_some(draw, atoms, 2))})"
    return f"{_pick(draw, ('exactly(1', 'at_least(2', 'at_most(1'))}; {', '.join(_some(draw, atoms, 3))})"


def _question(draw: np.random.Generator, atoms: list[str]) -> str:
    asked = _event(draw, [*atoms, "unheard"] if draw.random() < 0.1 else atoms)
    return f"{asked} given {_pick(draw, atoms)}" if draw.random() < 0.3 else asked


def python_answer(panel: RandomPanel) -> dict:
    """What the package answers, in the form of the page's answer, and the least probability of what is `given`."""
    own = co.Panel.from_records(panel.rows, laws=panel.laws)
    result, check = co.aggregate(own, co.Exact()), co.check(own)
    low, high = result.bounds(panel.question)
    _, _, condition = panel.question.partition(" given ")
    return {
        "judges": [
            {
                "judge": name,
                "forecasts": len(_rows(panel, name)),
                "status": str(found.status),
                "distance": found.distance,
            }
            for name, found in check.judges.items()
        ],
        "means": {"forecasts": len(own.written), "status": str(check.status), "distance": check.distance},
        "answer": {
            "events": [
                {"event": event, "probability": x, "mean": raw, "forecasts": weight}
                for event, x, raw, weight, *_ in zip(*result.columns().values(), strict=True)
            ],
            "objective": result.objective,
            "bound": result.lower_bound,
        },
        "bounds": {"event": panel.question, "low": low, "high": high},
        "given": result.bounds(condition).low if condition else 1.0,
    }


def _rows(panel: RandomPanel, judge: str) -> list[str]:
    return [event for name, event, _ in panel.rows if name == judge]
