"""Values of every public class that has a record, of every kind that differs in its fields."""

import io

import coherently as co

ROWS = [
    {"judge": "A", "event": "p given q", "probability": 0.3, "weight": 2.0, "time": 1.5},
    {"judge": "B", "event": "p | q", "probability": 0.4, "weight": 1.0, "lower": 0.2, "upper": 0.6},
    {"judge": "B", "event": "rate < 3 & w = a", "probability": 0.9, "weight": 0.0},
    {"judge": "A", "event": "~rain", "probability": 0.1, "weight": 1.0},
    {"judge": "A", "event": "p & rain", "probability": 0.95, "weight": 1.0},
]
NAMES = ("judge", "event", "probability", "weight", "lower", "upper", "time")
LAWS = ["variable w: a, b, c, ...", "variable rate: number", "p -> rain", "P(rain) <= 0.9"]
TABLE_2 = [
    *(("Alice", event, p) for event, p in (("p", 0.75), ("q", 0.2), ("p & q", 0.1))),
    *(("Bob", event, p) for event, p in (("p", 0.6), ("q", 0.1), ("p & q", 0.1))),
    *(("Chris", event, p) for event, p in (("p", 0.95), ("q", 0.0), ("p & q", 0.6))),
]


def rich_panel():
    rows = [{name: row.get(name, 0.0 if name == "time" else None) for name in NAMES} for row in ROWS]
    return co.Panel.from_records(rows, laws=LAWS, outcomes={"rain": True, "q": False}, labels={"p": "the first é"})


def resolved_panel():
    rows = [(f"J{j}", f"q{i}", ((i * 7 + j * 3) % 19 + 0.5) / 20) for i in range(36) for j in range(3)]
    return co.Panel.from_records(rows, outcomes={f"q{i}": i % 3 == 0 for i in range(36)})


def read_sheet():
    table = "Risks;;;\nRisk;Comment;Ann;Mean\nfire in B;dry;0,2;0,2\nflood;;0,1;0,1\nSource: us;;;\n"
    return co.read_panel(io.StringIO(table)).reading


def examples():
    """Each value by what it is."""
    yield "reading", read_sheet()
    table, rich = co.Panel.from_records(TABLE_2), rich_panel()
    plain = co.Panel.from_records([("A", "rain & wind?", 0.2), ("A", "~x", 0.4)], plain_events=True)
    declared = co.Panel.from_records(
        [("A", "w = a", 0.5), ("A", "w = b", 0.6), ("B", "w = a", 0.6)],
        laws=["variable w: a, b"],
        labels={"w = a": "Anna"},
    )
    scored = co.simulate(judges=8, variables=8, seed=1, compound=6, basic=4)
    certain = co.Panel.from_records([("A", "p", 1.0), ("B", "q", 0.5)], outcomes={"p": False, "q": True})
    exact, found, whole = co.aggregate(table, "exact"), co.check(table), co.check(declared)
    tuples = [("Ann", "Neg", {"P": 0.6, "not_P": 0.6}), ("Bob", "And", {"P": 0.75, "Q": 0.2, "P_and_Q": 0.5})]
    yield from (("panel", table), ("panel, rich", rich), ("panel of one judge", rich.judge("A")))
    yield from (("panel of plain names", plain), ("panel with outcomes", scored))
    for method in ("exact", "dykstra", "linear", co.Recipe(exponent=1.2), "dempster-shafer"):
        yield f"result of {getattr(method, 'name', method)}", co.aggregate(table, method)
    yield from (("result, rich", co.aggregate(rich, "exact")), ("result by log", co.aggregate(table, loss="log")))
    yield "result of plain names", co.aggregate(plain)
    yield from (("check", found), ("check, declared", whole), ("check, rich", co.check(rich)))
    yield from (("finding", found.judges["Chris"]), ("finding, coherent", found.judges["Bob"]), ("means", found.means))
    yield from (("book", found.book), ("no book", found.judges["Bob"].book), ("book, declared", whole.book))
    yield "book between judges", co.dutch_book(declared, between_judges=True, fee=0.001)
    yield from (("bounds", exact.bounds("p | q")), ("bounds with a note", exact.bounds("p & new")))
    yield from (("influence", exact.influence()), ("influence, rich", co.aggregate(rich, "exact").influence()))
    yield from (("influence by log", co.aggregate(declared, loss="log").influence(1)), ("why", exact.why("p & q")))
    yield from (
        ("why, rich", co.aggregate(rich).why("p given q")),
        ("why not", co.aggregate(table, "linear").why("~p")),
    )
    yield "next questions", co.ask_next(table.without("p & q"), about="p | q", candidates=["p & ~q", "p ^ q"])
    yield from (("next questions about all", co.ask_next(rich)), ("again", co.ask_next(table, about="contradictions")))
    yield "bounds table", exact.bounds_table(["p | q", "true"])
    yield from (("scores", co.score(scored)), ("infinite scores", co.score(certain, clip=0)))
    yield "scores with intervals", co.score(scored, confidence=0.9)
    yield "scores of a result", co.score(scored, co.aggregate(scored, "linear"))
    yield from (("comparison", co.compare(scored)), ("comparison without intervals", co.compare(scored, bootstrap=0)))
    yield from (("consistency of tuples", co.consistency(tuples)), ("consistency of a panel", co.consistency(table)))
    yield "leaderboard", co.consistency(tuples).leaderboard()
    yield "monitor", co.monitor([0.01, 0.02, 1.5], tolerance=0.05)
    yield "monitor, estimated", co.monitor([0.01, 0.02] * 20 + [0.1] * 30, first=40, most=0.2)
    yield "tuned", co.tune(resolved_panel())
    yield from (("recipe", co.Recipe()), ("recipe alone", co.Recipe("log", 1.5, -0.25, "log", None, 0.02)))
    halves = ((0.5, co.Recipe("linear", 1.5, judges={"Ann": 2.0, "Bob": 1.0}, then=None)), (0.5, co.Recipe(then=None)))
    yield "recipe, a blend", co.Recipe("blend", parts=halves)
    yield "recipe, then dykstra", co.Recipe(then=co.AlternatingProjections(groups="pairs"))
    yield from (("verification", co.verify(table, exact)), ("broken promises", co.verify(plain, exact)))
    yield from (("proposals", related()), ("proposals, accepted", related().accept("certain", by="Ann")))
    row = {"event": "p", "probability": 0.25, "raw": 0.5, "weight": 2.0}
    yield "network run", co.network.LocalReport(
        finished=False, nodes=3, messages=40, restarts=1, seconds=1.25, central="nearest",
        farthest_from_central=0.125, forecasts=(row, row | {"event": "q", "probability": None, "raw": None}),
    )  # fmt: skip


QUESTIONS = [
    {"id": "june", "text": "Rates cut by June 30, 2026", "group": "cuts"},
    {"id": "december", "text": "Rates cut by December 31, 2026", "group": "cuts"},
    {"id": "low", "text": "BTC below $70k on Dec 31, 2026"},
    {"id": "middle", "text": "BTC $70k to $80k on Dec 31, 2026"},
    {"id": "high", "text": "BTC over $80k on Dec 31, 2026"},
    {"id": "delay", "text": "Supplier delay"},
    {"id": "overrun", "text": "Budget overrun"},
    {"id": "both", "text": "Supplier delay and budget overrun"},
    {"id": "if", "text": "Budget overrun given supplier delay"},
    {"id": "alone", "text": "Something else é"},
]


def related():
    panel = co.Panel.from_records([("A", "june", 0.6), ("A", "december", 0.5), ("B", "june", 0.1)])
    added = {
        "relation": "implies",
        "members": ["delay", "overrun"],
        "counterexample": "Could the supplier be late for free?",
        "source": "a model",
        "evidence": [{"row": "delay", "words": "delay"}],
    }
    return co.relate(QUESTIONS, panel=panel).add([added])
