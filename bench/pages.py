"""Every page of panels with as many questions as are allowed, in all that they may ask, as a table in Markdown."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import numpy as np

from bench.web import _processor, served
from coherently.web.store import AnswerGiven, Store, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from coherently.web.store.store_records import Kind

QUESTIONS, JUDGES = 500, 5
"""Questions of a panel, which is the limit, and judges who answer all of them."""
MOST = 1.0
"""Target: seconds of a page."""
SLIP, REASON = 0.02, "A reason of some words."
"""Share of answers that slip, and what is said beside each."""


class Asked(NamedTuple):
    """A question: kind, declaration if it brings one along, and its events, each with a coherent probability."""

    kind: Kind
    declaration: str | None
    events: list[tuple[str, float]]


def chains() -> Iterator[Asked]:
    """Each question shares a variable with the next."""
    for i in range(QUESTIONS):
        yield Asked("yes-no", None, [(f"v{i} & v{i + 1}", 0.25)])


def dense() -> Iterator[Asked]:
    """All questions are about the same ten variables."""
    rng = np.random.default_rng(0)
    seen: set[str] = set()
    while len(seen) < QUESTIONS:
        signs = rng.integers(2, size=3)
        text = " & ".join(f"{'~' * sign}v{i}" for i, sign in zip(rng.choice(10, 3, replace=False), signs, strict=True))
        if text not in seen:
            seen.add(text)
            yield Asked("yes-no", None, [(text, 0.125)])


def tangle() -> Iterator[Asked]:
    """Pairs of a hundred variables at random: no order of them is narrow."""
    rng = np.random.default_rng(1)
    pairs = {tuple(sorted(rng.choice(100, 2, replace=False).tolist())) for _ in range(2 * QUESTIONS)}
    for i, j in sorted(pairs)[:QUESTIONS]:
        yield Asked("yes-no", None, [(f"v{i} & v{j}", 0.25)])


def ladders() -> Iterator[Asked]:
    """Two thresholds each, as many events as a panel may have."""
    for i in range(QUESTIONS):
        events = [(f"n{i} > {10 * step}", 0.8 - 0.4 * step) for step in range(2)]
        yield Asked("ladder", f"variable n{i}: number", events)


PANELS: dict[str, Callable[[], Iterator[Asked]]] = {
    "chains": chains,
    "ladders": ladders,
    "one piece of ten variables": dense,
    "a tangle of a hundred variables": tangle,
}


class Filled(NamedTuple):
    """A panel, the link of a judge, and a token of the account."""

    panel: str
    link: str
    token: str


def fill(store: Store, name: str) -> Filled:
    """A panel in its first round, whose judges have answered everything but for a few slips."""
    rng, asked = np.random.default_rng(2), list(PANELS[name]())
    account = store.accounts.local().id
    panel = store.panels.create(account, name).id

    def write() -> str:
        events = []
        for each in asked:
            texts = [(text, text) for text, _ in each.events]
            made = store.questions.add(panel, each.kind, texts[0][0], texts, declaration=each.declaration)
            events += [(event.id, chance) for event, (_, chance) in zip(made.events, each.events, strict=True)]
        invited = [store.judges.invite(panel, f"Judge {i}") for i in range(JUDGES)]
        for judge, _ in invited:
            slips = rng.random(len(events)) < SLIP
            values = np.where(slips, rng.random(len(events)).round(2), [chance for _, chance in events])
            given = [
                AnswerGiven(event, float(value), reason=REASON)
                for (event, _), value in zip(events, values, strict=True)
            ]
            store.forecasts.record(judge.id, given)
        return invited[0][1]

    return Filled(panel, store.write(write), store.tokens.create(account, "bench")[1])


class Visitor:
    """Looks at pages of one panel, and prints how long each took: at first, and again."""

    def __init__(self, process: int, name: str) -> None:
        self._process, self._name = process, name

    def look(self, what: str, client: httpx.Client, path: str) -> None:
        """Print the row of a page."""
        spent, figures = _processor(self._process), []
        for _ in range(2):
            begun = time.perf_counter()
            answer = client.get(path)
            figures.append(time.perf_counter() - begun)
            assert answer.status_code == 200, (path, answer.status_code, answer.text[:500])
        spent = _processor(self._process) - spent
        said = "met" if max(figures) < MOST else "missed"
        times = " | ".join(f"{seconds:.2f} s" for seconds in figures)
        size = len(answer.content) / 1e6
        print(f"| {self._name} | {what} | {times} | {spent:.2f} s | {size:.1f} MB | {said} |", flush=True)


def visit(port: int, visitor: Visitor, filled: Filled) -> None:
    """Every page of a panel: while it is private, in the discussion, and closed, with a version."""
    base, home = f"http://127.0.0.1:{port}", f"/panels/{filled.panel}"
    options: dict[str, Any] = {"base_url": base, "timeout": 600.0, "follow_redirects": True}
    token = {"Authorization": f"Bearer {filled.token}"}
    with (
        httpx.Client(**options) as facilitator,
        httpx.Client(**options) as judge,
        httpx.Client(**options, headers=token) as program,
    ):
        facilitator.get("/")
        judge.get(f"/j/{filled.link}")
        visitor.look("judge's sheet", judge, "/sheet")
        for word in ("questions", "relations", "preview", "people", "board"):
            visitor.look(word, facilitator, f"{home}/{word}")
        _advance(program, home, "discussion")
        visitor.look("judge's sheet, discussion", judge, "/sheet")
        visitor.look("discussion", facilitator, f"{home}/discussion")
        _advance(program, home, "closed")
        version = _aggregate(program, home)
        visitor.look("judge's sheet, closed", judge, "/sheet")
        visitor.look("results", facilitator, f"{home}/results")
        visitor.look("influence", facilitator, f"{home}/influence")
        visitor.look("report", program, f"/api/v1{version}/report")


def _advance(program: httpx.Client, home: str, phase: str) -> None:
    program.post(f"/api/v1{home}/rounds", json={"phase": phase}).raise_for_status()


def _aggregate(program: httpx.Client, home: str) -> str:
    """Make a version, and wait for it: a job, which no page waits for."""
    asked = program.post(f"/api/v1{home}/aggregations", json={"time_limit": 60.0})
    asked.raise_for_status()
    path = f"{home}/aggregations/{asked.json()['id']}"
    while (found := program.get(f"/api/v1{path}").json())["status"] in ("queued", "running"):
        time.sleep(0.2)
    assert found["status"] == "done", found
    return path


def run() -> None:
    """Measure on a SQLite store in a new file."""
    print(f"\n## Pages of {QUESTIONS} questions\n")
    print("| panel | page | first | again | processor of both | size | below 1 s |\n|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or PANELS:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/store.db"
            with open_store(url) as store:
                filled = fill(store, name)
            with served(url) as (port, process):
                visit(port, Visitor(process, name), filled)


if __name__ == "__main__":
    run()
