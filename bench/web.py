"""The workbench: processor time of an answer and of the board, and under load, as a table in Markdown."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import coherently as co
from coherently.web.store import AnswerGiven, Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

CONNECTIONS = 8
"""Clients that ask at the same time for figures per second."""
SECONDS = 10.0
"""Seconds of each measurement."""
JUDGES = 200
"""Judges with open streams."""
PACE = 20.0
"""Requests per second where only the time of each is of interest."""
SLOW_READ, SLOW_NEWS = 0.05, 1.0
"""Targets: seconds of the 99th percentile of reads during an aggregation, and of a change on its way."""
QUESTIONS, AT_ONCE, CROWD = 50, 20, 50
"""Questions of a panel, judges whose answers are looked at one by one, and judges who save at once."""
QUIET = 0.05
"""Seconds of the processor in one second of a workbench that waits for requests."""
MOST_PROCESSOR = 50.0
"""Target: milliseconds of the processor of an answer until its feedback, and of the board after it."""
TEXTS = ("a", "b", "c", "d", "a & b", "b & c", "c & d", "a | d", "a & ~c", "b | ~d")
COHERENT = (0.5, 0.6, 0.4, 0.7, 0.3, 0.24, 0.28, 0.85, 0.3, 0.72)
"""Questions, and answers that fit: four independent events."""
SERVER = """
if __name__ == "__main__":  # its processes read this file, too: as with `coherently serve`, it tells them nothing
    import sys
    from coherently.web.server import serve
    from coherently.web.settings import ServiceLimits, ServiceSettings
    limits = ServiceLimits(rate=1e6, burst=10**6)
    settings = ServiceSettings(sys.argv[1], port=0, log_requests=False, limits=limits)
    serve(settings, announce=lambda text: print(text, flush=True))
"""


class Panelists(NamedTuple):
    """A panel in the store: what clients need to ask and to answer."""

    panel: str
    token: str
    events: list[str]
    judges: list[str]
    links: list[str]


def fill(store: Store) -> Panelists:
    """Ten questions and two hundred judges."""
    account = store.accounts.local().id
    panel = store.panels.create(account, "Load").id
    events = [store.questions.add(panel, "yes-no", text, [(text, text)]).events[0].id for text in TEXTS]
    invited = store.write(lambda: [store.judges.invite(panel, f"Judge {i}") for i in range(JUDGES)])
    judges, links = [judge.id for judge, _ in invited], [secret for _, secret in invited]
    return Panelists(panel, store.tokens.create(account, "bench")[1], events, judges, links)


def fill_hard(store: Store) -> str:
    """A panel whose aggregation uses up any time limit."""
    return fill_drawn(store, "Hard", co.simulate(judges=100, variables=100, seed=1))


def fill_drawn(store: Store, title: str, drawn: co.Panel) -> str:
    """A panel without rounds, whose forecasts are those of another."""
    panel = store.panels.create(store.accounts.local().id, title).id
    columns = drawn.columns()

    def write() -> None:
        events = {t: store.questions.add(panel, "yes-no", t, [(t, "")]).events[0].id for t in drawn.written.text}
        answers: dict[str, list[AnswerGiven]] = {}
        for judge, event, probability in zip(
            columns["judge"], columns["event"], drawn.probability.tolist(), strict=True
        ):
            answers.setdefault(judge, []).append(AnswerGiven(events[event], probability))
        for name, given in answers.items():
            store.forecasts.record(store.judges.add(panel, name).id, given)

    store.write(write)
    return panel


@contextlib.contextmanager
def served(url: str) -> Iterator[tuple[int, int]]:
    """The workbench in a process of its own: the port, and the number of the process."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "served.py"
        script.write_text(SERVER, "utf-8")
        with subprocess.Popen([sys.executable, str(script), url], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            address = process.stdout.readline().split()[4]
            try:
                yield int(address.rstrip("/").rsplit(":", 1)[1]), process.pid
            finally:
                process.terminate()
                process.wait()


class Client:
    """A connection that stays open."""

    def __init__(self, port: int, secret: str) -> None:
        self._port, self._secret = port, secret
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: Any = None, key: str | None = None) -> Any:
        """Send a request and read the answer."""
        reader, writer = await self._opened()
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += f"Authorization: Bearer {self._secret}\r\nContent-Type: application/json\r\n"
        head += f"Idempotency-Key: {key}\r\n" if key else ""
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.split(b" ")[1][:1] == b"2", answer
        length = int(answer.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        return json.loads(await reader.readexactly(length))

    async def events(self, path: str) -> AsyncIterator[str]:
        """The lines of a stream."""
        reader, writer = await self._opened()
        writer.write(
            f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self._secret}\r\n\r\n".encode()
        )
        while line := await reader.readline():
            yield line.decode().rstrip()

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        return self._streams

    def close(self) -> None:
        """End the connection."""
        if self._streams is not None:
            self._streams[1].close()


class Times(NamedTuple):
    """Requests per second, and percentiles of the seconds of each."""

    rate: float
    median: float
    worst: float

    @staticmethod
    def of(times: list[float], seconds: float) -> Times:
        """Summarise the seconds of requests."""
        return Times(len(times) / seconds, float(np.median(times)), float(np.percentile(times, 99)))

    def row(self, what: str, target: str = "", verdict: str = "") -> str:
        """A row of the table."""
        figures = f"{self.rate:,.0f} | {1000 * self.median:.1f} ms | {1000 * self.worst:.1f} ms"
        return f"| {what} | {figures} | {target} | {verdict} |"


async def flood(port: int, secrets: list[str], request: Callable[[int], tuple[str, Any]]) -> Times:
    """Several clients, each of which asks again as soon as it is answered."""
    times: list[float] = []
    end = time.perf_counter() + SECONDS

    async def one(number: int) -> None:
        client = Client(port, secrets[number % len(secrets)])
        count = 0
        while (begun := time.perf_counter()) < end:
            path, body = request(1_000_000 * number + count)
            await client.ask(path, body, None if body is None else f"{number}-{count}")
            times.append(time.perf_counter() - begun)
            count += 1
        client.close()

    await asyncio.gather(*(one(number) for number in range(CONNECTIONS)))
    return Times.of(times, SECONDS)


async def paced(port: int, secret: str, path: str, seconds: float) -> Times:
    """One request after the other at a steady pace, however long each takes."""
    times: list[float] = []

    async def one() -> None:
        client = Client(port, secret)
        begun = time.perf_counter()
        await client.ask(path)
        times.append(time.perf_counter() - begun)
        client.close()

    tasks = []
    for _ in range(int(seconds * PACE)):
        tasks.append(asyncio.create_task(one()))
        await asyncio.sleep(1 / PACE)
    await asyncio.gather(*tasks)
    return Times.of(times, seconds)


def answer(load: Panelists, number: int) -> tuple[str, Any]:
    """An answer to one of the questions; together they are those of four independent events."""
    place = number % len(load.events)
    return "/sheet/answers", {"answers": [{"event": load.events[place], "probability": COHERENT[place]}]}


def forecast(load: Panelists, number: int) -> tuple[str, Any]:
    """A forecast that a platform records for a judge."""
    place = number % len(load.events)
    row = {"judge": load.judges[number % JUDGES], "event": load.events[place], "probability": COHERENT[place]}
    return f"/panels/{load.panel}/forecasts", {"forecasts": [row]}


async def news(port: int, load: Panelists) -> Times:
    """All judges listen and answer now and then; seconds from an answer until the facilitator's stream tells of it."""
    judges = [Client(port, secret) for secret in load.links]
    board, sent, seen = Client(port, load.token), [], []

    async def listen(client: Client) -> None:
        async for _ in client.events("/sheet/stream"):
            pass

    async def watch() -> None:
        async for line in board.events(f"/panels/{load.panel}/stream"):
            seen.extend([time.perf_counter()] if line == "event: answers" else [])

    async def say(number: int) -> None:
        client = Client(port, load.links[number % JUDGES])
        sent.append(time.perf_counter())
        await client.ask(*answer(load, number))
        client.close()

    listening = [asyncio.create_task(listen(client)) for client in judges] + [asyncio.create_task(watch())]
    await asyncio.sleep(5)
    for number in range(int(SECONDS * PACE)):
        await asyncio.gather(say(number), asyncio.sleep(1 / PACE))
    await asyncio.sleep(2)
    for task in listening:
        task.cancel()
    for client in [*judges, board]:
        client.close()
    assert len(seen) == len(sent), (len(seen), len(sent))
    return Times.of([after - before for before, after in zip(sent, seen, strict=True)], SECONDS)


async def measure(port: int, load: Panelists, hard: str) -> None:
    """Print all rows."""
    board = f"/panels/{load.panel}"
    for number in range(50):
        client = Client(port, load.links[number])
        await client.ask(*answer(load, number))
        client.close()
    print((await flood(port, [load.token], lambda _: (board, None))).row("reads of a panel"))
    print((await flood(port, load.links, lambda _: ("/sheet", None))).row("reads of a judge's sheet, with feedback"))
    print(
        (await flood(port, load.links, lambda n: answer(load, n))).row("answers of judges, on the disk, with feedback")
    )
    print((await flood(port, [load.token], lambda n: forecast(load, n))).row("forecasts of a platform, on the disk"))
    told = await news(port, load)
    target = "a change seen within 1 s"
    print(
        told.row(
            f"{JUDGES} judges with open streams: an answer, until the facilitator sees it",
            target,
            verdict(told, SLOW_NEWS),
        )
    )
    client = Client(port, load.token)
    asked = await client.ask(f"/panels/{hard}/aggregations", {"method": "exact", "loss": "log", "time_limit": 60.0})
    while (await client.ask(f"/panels/{hard}/aggregations/{asked['id']}"))["status"] == "queued":
        await asyncio.sleep(0.1)
    target = "99th percentile below 50 ms"
    for what, path, secret in (("a panel", board, load.token), ("a judge's sheet", "/sheet", load.links[0])):
        times = await paced(port, secret, path, 2 * SECONDS)
        print(times.row(f"reads of {what} during an aggregation of 60 s", target, verdict(times, SLOW_READ)))
    client.close()
    client = Client(port, load.token)
    status = (await client.ask(f"/panels/{hard}/aggregations/{asked['id']}"))["status"]
    assert status == "running", status
    client.close()


class Sheets(NamedTuple):
    """A panel whose judges have answered nearly everything, with a few slips each."""

    panel: str
    account: str
    events: list[str]
    judges: list[str]
    links: list[str]


def fill_sheets(store: Store) -> Sheets:
    """Fifty questions in ten groups, fifty judges who answer coherently but for eight slips."""
    rng, account = np.random.default_rng(0), store.accounts.local()
    panel = store.panels.create(account.id, "Sheets").id
    texts = [
        text
        for i in range(QUESTIONS // 5)
        for text in (f"a{i}", f"b{i}", f"a{i} & b{i}", f"a{i} | b{i}", f"b{i} given a{i}")
    ]
    events = [
        store.questions.add(panel, "conditional" if " given " in text else "yes-no", text, [(text, "")]).events[0].id
        for text in texts
    ]
    invited = store.write(lambda: [store.judges.invite(panel, f"Judge {i}") for i in range(CROWD)])
    for judge, _ in invited:
        store.forecasts.record(judge.id, [AnswerGiven(e, p) for e, p in zip(events, _slips(rng), strict=True)])
    return Sheets(panel, account.id, events, [judge.id for judge, _ in invited], [secret for _, secret in invited])


def _slips(rng: np.random.Generator) -> list[float]:
    answers: list[float] = []
    for _ in range(QUESTIONS // 5):
        a, b = rng.uniform(0.1, 0.9, 2)
        answers += [a, b, a * b, a + b - a * b, b]
    for place in rng.choice(QUESTIONS, 8, replace=False):
        answers[place] = float(rng.random())
    return [round(float(value), 2) for value in answers]


def measure_sheets(store: Store, sheets: Sheets) -> None:
    """Processor time of an answer until its feedback, and of the board after it, and what of that is `explain`."""
    from coherently.explain import judge_sheet as desk
    from coherently.web.access.callers import AccountCaller, JudgeCaller
    from coherently.web.access.workbench import Workbench
    from coherently.web.operations.boards import get_board
    from coherently.web.settings import ServiceSettings
    from coherently.web.shapes.sheet_shapes import AnswerBatch

    bench = Workbench(store, ServiceSettings(store.url))
    rng, facilitator = np.random.default_rng(1), AccountCaller(sheets.account, "local")
    spent: dict[str, list[tuple[float, float]]] = {"answer": [], "board": []}
    unchecked = unfinished = 0

    def timed(what: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        explained.clear()
        begun = time.process_time()
        told = act()
        spent[what].append((time.process_time() - begun, sum(explained)))
        return told

    with _explained(desk) as explained:
        for number in range(AT_ONCE):
            judge = JudgeCaller(store.judges.get(sheets.judges[number]))
            draft = {"event": sheets.events[int(rng.integers(QUESTIONS))], "probability": round(float(rng.random()), 2)}
            batch = AnswerBatch.model_validate({"answers": [draft]})
            feedback = timed("answer", partial(_feedback, bench, judge, batch))
            overview = timed("board", lambda: get_board(bench, facilitator, sheets.panel).overview)
            unchecked += (not feedback["checked"]) + (not overview["checked"])
            unfinished += not feedback["finished"]
    for what, times in spent.items():
        whole, part = (1000 * float(np.median([each[i] for each in times])) for i in (0, 1))
        named = "an answer until its feedback" if what == "answer" else "the board after it"
        words = f"{named}, {QUESTIONS} questions, {CROWD} judges, processor time"
        said = "met" if whole < MOST_PROCESSOR else "missed"
        print(f"| {words} | | {whole:.0f} ms, of which explain {part:.0f} ms | | at most 50 ms | {said} |")
    said = "missed" if unchecked or unfinished else "met"
    words = f"not fully checked: {unchecked}; feedback without all bands and changes: {unfinished}"
    print(f"| of {2 * AT_ONCE} of these | | {words} | | 0 | {said} |")


def _feedback(*given: Any) -> dict[str, Any]:
    from coherently.web.operations.sheets import save_answers

    return save_answers(*given).feedback


@contextlib.contextmanager
def _explained(desk: Any) -> Iterator[list[float]]:
    """Note the processor time of each call of the room that explains."""
    spent: list[float] = []
    names = ("feedback", "overview", "ask_next")
    kept = {name: getattr(desk, name) for name in names}

    def timed(function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                spent.append(time.process_time() - begun)

        return call

    try:
        for name in names:
            setattr(desk, name, timed(kept[name]))
        yield spent
    finally:
        for name in names:
            setattr(desk, name, kept[name])


async def measure_crowd(port: int, process: int, sheets: Sheets, waves: tuple[str, ...]) -> None:
    """All judges save at once, over REST, wave by wave: how long each waits until everything is checked."""
    rng = np.random.default_rng(2)

    async def save(number: int, wave: str) -> float:
        client = Client(port, sheets.links[number])
        draft = {"event": sheets.events[int(rng.integers(QUESTIONS))], "probability": round(float(rng.random()), 2)}
        begun = time.perf_counter()
        told = await client.ask("/sheet/answers", {"answers": [draft]}, f"crowd {wave} {number}".replace(" ", "-"))
        while not (told["feedback"]["checked"] and told["feedback"]["finished"]):
            await asyncio.sleep(0.1)
            told = await client.ask("/sheet")
        client.close()
        return time.perf_counter() - begun

    for known in waves:
        spent, own = _processor(process), time.process_time()
        times = await asyncio.gather(*(save(number, known) for number in range(CROWD)))
        spent, own = _processor(process) - spent, time.process_time() - own
        late = float(np.percentile(times, 95))
        words = f"{CROWD} judges who save at once, {QUESTIONS} questions, until all is checked ({known})"
        rate, median = CROWD / max(times), 1000 * float(np.median(times))
        each = f"processor {1000 * spent / CROWD:.0f} ms each, clients {1000 * own / CROWD:.1f} ms"
        said = "met" if late <= 1 else "missed"
        last = f"95th: {1000 * late:.0f} ms; {each}"
        print(f"| {words} | {rate:.0f} | {median:.0f} ms | {last} | 95th percentile at most 1 s | {said} |", flush=True)


def wait_until_quiet(process: int) -> None:
    """Wait until a workbench has loaded what it needs: its processes take next to nothing any longer."""
    before = -1.0
    while (now := _processor(process)) - before > QUIET:
        before = now
        time.sleep(1)


def _processor(process: int) -> float:
    """Seconds of the processor of the workbench and its processes."""
    import psutil  # type: ignore[import-untyped]

    first = psutil.Process(process)
    total = 0.0
    for each in [first, *first.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += sum(each.cpu_times()[:2])
    return total


def verdict(times: Times, most: float) -> str:
    """Whether a target is met."""
    return "met" if times.worst < most else "missed"


def run() -> None:
    """Measure on a SQLite store in a new file."""
    print("\n## The workbench\n")
    print("| work | per second | median | 99th percentile | target | |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/store.db"
        with open_store(url) as store:
            sheets = fill_sheets(store)
            measure_sheets(store, sheets)
            load, hard = fill(store), fill_hard(store)
        with served(url) as (port, process):
            asyncio.run(measure_crowd(port, process, sheets, ("right after the start, which is in it",)))
        with served(url) as (port, process):
            wait_until_quiet(process)
            waves = ("nothing known before", "again, all but one answer known")
            asyncio.run(measure_crowd(port, process, sheets, waves))
            asyncio.run(measure(port, load, hard))


if __name__ == "__main__":
    run()
