"""What must not change an answer, and what must change it in a known way, on random panels of the whole language.

Each relation takes a random `Case` and asserts how its answer and that of a changed panel hang together. No other
solver is asked, so that relations also hold where nothing else can tell what is right.
"""

import contextlib
import random
import re

import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import coherently as co
from tests.web.api.answer_schemas import API
from tests.web.api.service import Service
from tests.whole.declared_checks import recoded
from tests.whole.language_checks import VALUES, random_case, text

LOSSES = ("brier", "log", "spherical")
CLOSE = 1e-6
"""How far probabilities may differ that the certificates of the default tolerance do not tell apart."""
OWNED = 1e-9
"""To this a panel that is asked twice has one answer."""
COLUMNS = ("judge", "event", "probability", "weight", "lower", "upper")


def drawn(rng):
    """A panel and a loss under which its answer is unique at every forecast event of positive weight."""
    case = random_case(rng)
    for row in case.rows:
        row["weight"] = row["weight"] or 1.0
    return case, rng.choice(LOSSES)


def plain(rng):
    """The same with points for plain events alone, so that probabilities are unique, too."""
    case, loss = drawn(rng)
    case.pins.clear()
    for row in case.rows:
        given = " given " in row["event"] or row["probability"] is None
        event = text(rng, list(case.domains), 3) if given else row["event"]
        p = rng.random() if row["probability"] is None else row["probability"]
        row.update(event=event, probability=p, lower=None, upper=None)
    return case, loss


def solved(rows, laws, loss, **options):
    return co.aggregate(co.Panel.from_records(rows, laws=laws), co.Exact(), loss=loss, **options)


def check_objectives(one, other):
    """The objectives are the same as far as they are proved: no bound of either is above the answer of the other."""
    room = CLOSE * max(1.0, one.objective)
    assert one.lower_bound <= other.objective + room, (one.lower_bound, other.objective)
    assert other.lower_bound <= one.objective + room, (one.objective, other.lower_bound)


def check_same(one, other, renamed=lambda event: event):
    """The same objective, and the same probability for every event."""
    check_objectives(one, other)
    check_probabilities(one, other, CLOSE, renamed)


def check_probabilities(one, other, close, renamed=lambda event: event):
    for event in one.panel.written.text:
        given, found = one.probability(event), other.probability(renamed(event))
        assert abs(found - given) <= close, (event, given, found)


def renaming(names):
    """Texts with other names for their variables."""
    return lambda event: re.sub(r"\w+", lambda name: names.get(name[0], name[0]), event)


def names_do_not_matter(rng):
    case, loss = plain(rng)
    names = rng.sample(list(case.domains), len(case.domains))
    renamed = renaming({name: f"zz{place}" for place, name in enumerate(names)})
    rows = [row | {"event": renamed(row["event"]), "judge": f"judge {row['judge']}"} for row in case.rows]
    check_same(solved(case.rows, case.laws, loss), solved(rows, [renamed(law) for law in case.laws], loss), renamed)


def order_does_not_matter(rng):
    case, loss = plain(rng)
    rows, laws = list(case.rows), list(case.formulas)
    rng.shuffle(rows)
    rng.shuffle(laws)
    check_same(solved(case.rows, case.laws, loss), solved(rows, [*case.declarations, *laws], loss))


def twice_is_double_weight(rng):
    case, loss = drawn(rng)
    chosen = rng.sample(range(len(case.rows)), rng.randint(1, len(case.rows)))
    twice = [*case.rows, *(case.rows[row] for row in chosen)]
    double = [row | {"weight": row["weight"] * (1 + (place in chosen))} for place, row in enumerate(case.rows)]
    check_objectives(solved(twice, case.laws, loss), solved(double, case.laws, loss))


def weight_can_be_split(rng):
    case, loss = plain(rng)
    place, share = rng.randrange(len(case.rows)), rng.uniform(0.1, 0.9)
    row = case.rows[place]
    parts = [row | {"weight": part * row["weight"]} for part in (share, 1 - share)]
    split = [*case.rows[:place], *case.rows[place + 1 :], *parts]
    check_same(solved(case.rows, case.laws, loss), solved(split, case.laws, loss))


def negations_have_complements(rng):
    """A forecast of ~E at 1 - p is one of E at p; of a condition that is settled or in doubt, too."""
    case, loss = drawn(rng)
    rows = [opposite(row) if rng.random() < 0.5 else row for row in case.rows]
    check_objectives(solved(case.rows, case.laws, loss), solved(rows, case.laws, loss))


def opposite(row):
    event, given, condition = row["event"].partition(" given ")
    low, high, p = row["lower"], row["upper"], row["probability"]
    return row | {
        "event": f"~({event}){given}{condition}",
        "probability": None if p is None else 1 - p,
        "lower": None if high is None else 1 - high,
        "upper": None if low is None else 1 - low,
    }


def formulas_do_not_matter(rng):
    """Another formula for the same event is the same event."""
    case, loss = drawn(rng)
    name = rng.choice([row["event"] for row in case.rows]).partition(" given ")[0]

    def longer(event):
        left, given, condition = event.partition(" given ")
        form = rng.choice(
            ("~~({})", "({0}) & ({0} | {1})", "({0}) | ({0}) & ({1})", "(({1}) -> ({0})) & (({1}) | ({0}))")
        )
        return form.format(f"({left})", f"({name})") + given + condition

    rows = [row | {"event": longer(row["event"])} for row in case.rows]
    check_objectives(solved(case.rows, case.laws, loss), solved(rows, case.laws, loss))


def two_values_are_true_and_false(rng):
    case, loss = drawn(rng)
    two = [f"variable {name}: yes, no" for name in case.domains if name in ("p", "q")]
    rows = [row | {"event": recoded(row["event"])} for row in case.rows]
    # A pin begins with P(, which is no variable.
    laws = [law if law.startswith("variable") else recoded(law) for law in case.laws]
    check_objectives(solved(case.rows, case.laws, loss), solved(rows, [*two, *laws], loss))


def coherent_forecasts_stay(rng):
    """Forecasts that some distribution has are their own answer, and lose nothing."""
    case, loss = plain(rng)
    chance = np.array([rng.expovariate(1) for _ in case.allowed])
    chance /= chance.sum()
    # The log loss draws what is nearer to 0 or 1 than its clip in.
    rows = [row | {"probability": float(case.truth(row["event"])[0] @ chance)} for row in case.rows]
    rows = [row for row in rows if loss != "log" or 2e-4 < row["probability"] < 1 - 2e-4]
    if rows:
        result = solved(rows, case.laws, loss)
        assert result.objective <= CLOSE
        for row in rows:
            found = result.probability(row["event"])
            assert abs(found - row["probability"]) <= CLOSE, (row, found)


def answers_are_coherent(rng):
    """Asked about its own answer, it answers the same, and nothing is lost."""
    case, loss = plain(rng)
    first = solved(case.rows, case.laws, loss)
    rows = [row | {"probability": first.probability(row["event"])} for row in case.rows]
    again = solved(rows, case.laws, "brier")
    assert again.objective <= OWNED
    check_probabilities(first, again, CLOSE)


def who_has_no_weight_has_no_say(rng):
    case, loss = plain(rng)
    names = list(case.domains)
    silent = [
        dict.fromkeys(COLUMNS)
        | {"judge": "Z", "event": text(rng, names, 3), "probability": rng.random(), "weight": 0.0}
        for _ in range(rng.randint(1, 4))
    ]
    one = solved(case.rows, case.laws, loss)
    check_same(one, solved([*case.rows, *silent], case.laws, loss))


def unrelated_panels_do_not_meet(rng):
    """Of two panels that share no variable, each has the answer that it has alone, and what is lost adds up."""
    (one, loss), (other, _) = plain(rng), plain(rng)
    renamed = renaming({name: f"{name}2" for name in VALUES})
    moved = [row | {"event": renamed(row["event"])} for row in other.rows]
    first, second = solved(one.rows, one.laws, loss), solved(moved, [renamed(law) for law in other.laws], loss)
    laws = [*one.declarations, *map(renamed, other.declarations), *one.formulas, *map(renamed, other.formulas)]
    both = solved([*one.rows, *moved], laws, loss)
    check_probabilities(first, both, CLOSE)
    check_probabilities(second, both, CLOSE)
    if not any(is_settled(part, row) for part in (one, other) for row in part.rows):  # those would meet
        room = CLOSE * max(1.0, both.objective)
        assert abs(both.objective - first.objective - second.objective) <= room


def is_settled(case, row):
    """Whether an event is certain or impossible, which all panels have in common."""
    truth = case.everywhere(row["event"])[0]
    return truth.all() or not truth.any()


def threads_do_not_matter(rng):
    case, loss = drawn(rng)
    panel = case.panel()
    one, many = (co.aggregate(panel, co.Exact(threads=threads), loss=loss) for threads in (1, 3))
    assert one.to_json() == many.to_json()


def engines_do_not_matter(rng, engine):
    case, loss = drawn(rng)
    panel = case.panel()
    here, there = (co.aggregate(panel, co.Exact(), loss=loss, engine=where) for where in (None, engine))
    assert here.to_json() == there.to_json()


def frames_do_not_matter(rng):
    case, loss = drawn(rng)
    columns = {name: [row[name] for row in case.rows] for name in COLUMNS}
    numbers = dict.fromkeys(COLUMNS[2:], pl.Float64)
    polars = pl.DataFrame(columns, schema_overrides=numbers)
    frames = (pd.DataFrame(columns).astype(dict.fromkeys(numbers, float)), polars, polars.to_arrow(), pa.table(polars))
    panels = [co.Panel.from_frame(frame, laws=case.laws) for frame in frames]
    told = {co.aggregate(panel, co.Exact(), loss=loss).to_json() for panel in (case.panel(), *panels)}
    assert len(told) == 1


def live_is_from_scratch(rng):
    """A panel that gets one forecast after the other, and has some revised, ends where the whole panel does."""
    case, loss = plain(rng)
    rows = first_of_each(case)
    start = rng.randint(1, len(rows))
    begun = [row | {"probability": rng.random()} for row in rows[:start]]
    live = co.LivePanel(co.Panel.from_records(begun, laws=case.laws), co.Exact(), loss, background=False)
    with live:
        for place, row in enumerate(rows):
            change = live.revise if place < start else live.add
            change(row["judge"], row["event"], row["probability"], weight=row["weight"])
        check_same(solved(rows, case.laws, loss), live.settle().result())


def first_of_each(case):
    """The rows without a judge's further forecasts of the same event, which a live panel refuses."""
    kept = {}
    for row in case.rows:
        kept.setdefault((row["judge"], case.everywhere(row["event"])[0].tobytes()), row)
    return list(kept.values())


def the_web_is_the_library(rng, http):
    case, loss = drawn(rng)
    forecasts = [{name: value for name, value in row.items() if value is not None} for row in case.rows]
    draft = {"forecasts": forecasts, "laws": case.laws, "loss": loss, "method": "exact"}
    answer = http.post("/aggregate", json=draft)
    assert answer.status_code == 200, answer.text
    here = solved(case.rows, case.laws, loss)
    for row in answer.json()["forecasts"]:
        assert abs(row["probability"] - here.probability(row["event"])) <= OWNED, row


@contextlib.contextmanager
def workbench():
    """A client of a workbench in this process."""
    with Service("sqlite://") as service, httpx.Client(base_url=service.url + API, timeout=300) as client:
        yield client


RELATIONS = (
    names_do_not_matter,
    order_does_not_matter,
    twice_is_double_weight,
    weight_can_be_split,
    negations_have_complements,
    formulas_do_not_matter,
    two_values_are_true_and_false,
    coherent_forecasts_stay,
    answers_are_coherent,
    who_has_no_weight_has_no_say,
    unrelated_panels_do_not_meet,
    threads_do_not_matter,
    engines_do_not_matter,
    frames_do_not_matter,
    live_is_from_scratch,
    the_web_is_the_library,
)
OPENED = {engines_do_not_matter: lambda: co.open_engine("processes:2"), the_web_is_the_library: workbench}
"""What a relation needs beside random numbers, opened once for all panels."""


def check_relation(relation, seed, count):
    """Hold a relation against so many random panels."""
    with contextlib.ExitStack() as stack:
        needs = [stack.enter_context(OPENED[relation]())] if relation in OPENED else []
        for number in range(count):
            try:
                relation(random.Random(f"{seed} {number}"), *needs)
            except Exception as error:
                error.add_note(f"{relation.__name__}, panel {number} of seed {seed}")
                raise
