"""Declared variables against an enumeration of their values."""

import datetime as dt
import itertools
import random

import numpy as np
import pytest

from coherently.errors import EventError
from coherently.events import OPEN, Events, entail
from tests.events.oracle import OTHER, truths

DECLARATIONS = [
    "variable winner: Ann, Bob, Cid",
    "variable party: left, right",
    'variable seat: "New York", x, y, z, ...',
    "variable rate: number",
    "variable due: date",
]
DOMAINS = {
    "p": (False, True),
    "q": (False, True),
    "winner": ("Ann", "Bob", "Cid"),
    "party": ("left", "right"),
    "seat": ("New York", "x", "y", "z", OTHER),
    "rate": (0.0, 1.0, 1.5, 2.5, 2.7, 3.0, 4.0),
    "due": tuple(dt.date(2027, 1, day) for day in (28, 29, 30, 31)),
}
VALUES = {
    "seat": ['"New York"', "x", "y", "z", "other"],
    "rate": ["1", "2.5", "3.0", "1e0"],
    "due": ["2027-01-29", "2027-01-30"],
} | {name: list(map(str, DOMAINS[name])) for name in ("winner", "party")}
QUANTITIES = ("rate", "due")


def comparison(rng, names):
    name = rng.choice(names)
    if name in ("p", "q"):
        return name
    kind = rng.random()
    if name in QUANTITIES and kind < 0.7:
        return f"{name} {rng.choice(('<', '<=', '>', '>='))} {rng.choice(VALUES[name])}"
    if kind < 0.8:
        return f"{name} {rng.choice(('=', '!='))} {rng.choice(VALUES[name])}"
    return f"{name} in {{{', '.join(rng.choices(VALUES[name], k=rng.randint(1, 4)))}}}"


def formula(rng, size, names):
    if size <= 1:
        return comparison(rng, names)
    left = rng.randint(1, size - 1)
    kind = rng.random()
    if kind < 0.15:
        return f"~({formula(rng, size - 1, names)})"
    if kind < 0.3:
        parts = [formula(rng, max(1, size // 3), names) for _ in range(3)]
        return f"{rng.choice(('exactly', 'at_least', 'at_most'))}({rng.randint(0, 3)}; {', '.join(parts)})"
    operator = rng.choice(("&", "|", "^", "->", "<->"))
    return f"({formula(rng, left, names)}) {operator} ({formula(rng, size - left, names)})"


def declared(texts=()):
    events = Events()
    assert events.declare(DECLARATIONS) == ()
    reading = events.add(texts)
    assert reading.faults == ()
    return events, reading


def random_texts(seed, count):
    rng = random.Random(seed)
    names = [rng.sample(list(DOMAINS), rng.randint(1, 3)) for _ in range(8)]
    return [formula(rng, rng.randint(1, 7), rng.choice(names)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(8))
def test_equal_meaning_and_only_that_is_the_same_side(seed):
    texts = random_texts(seed, 400)
    _, reading = declared(texts)
    side_of, meaning_of = {}, {}
    for text, side in zip(texts, reading.event.tolist(), strict=True):
        table = truths(text, DOMAINS)
        for key, number in ((table.tobytes(), side), ((~table).tobytes(), side ^ 1)):
            assert side_of.setdefault(key, number) == number, text
            assert meaning_of.setdefault(number, key) == key, text


@pytest.mark.parametrize("seed", range(6))
def test_evaluation_in_every_world(seed):
    texts = random_texts(seed, 60)
    events, reading = declared(texts)
    worlds = [dict(zip(DOMAINS, values, strict=True)) for values in itertools.product(*DOMAINS.values())]
    chosen = random.Random(seed).sample(range(len(worlds)), 200)
    own = [{name: None if value == OTHER else value for name, value in worlds[i].items()} for i in chosen]
    events.add(["p", "q"])
    bits = np.array([events.atoms(world) for world in own])
    found = events.evaluate(reading.event, bits)
    expected = np.array([truths(text, DOMAINS)[chosen] for text in texts]).T
    np.testing.assert_array_equal(found, expected)
    assert not events.evaluate(reading.event & ~1, np.zeros((1, len(events.variables)), bool)).any()
    again = np.array([events.atoms(world) for world in events.worlds(bits)])
    np.testing.assert_array_equal(again, bits)


@pytest.mark.parametrize("seed", range(3))
def test_conditionals(seed):
    rng = random.Random(seed)
    names = ("winner", "rate", "p")
    pairs = [(formula(rng, 3, names), formula(rng, 2, names)) for _ in range(60)]
    events, _ = declared()
    for event, condition in pairs:
        reading = events.add([f"{event} given {condition}", f"({event}) & ({condition})", condition])
        if not truths(condition, DOMAINS).any():
            assert reading.faults[0].kind == "impossible"
            continue
        assert reading.sides[0, :2].tolist() == [reading.event[1], reading.event[2]]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_entailed_is_true_in_every_possible_world(seed):
    """Exactly what holds in all worlds that agree with what is known of single atoms, and with a fact."""
    rng = random.Random(seed)
    texts = [formula(rng, rng.randint(1, 4), ("winner", "seat", "rate", "p")) for _ in range(20)]
    events, reading = declared(texts)
    domains = {name: DOMAINS[name] for name in ("winner", "seat", "rate", "p")}
    events.add(["p"])
    worlds = [dict(zip(domains, values, strict=True)) for values in itertools.product(*domains.values())]
    bits = np.array(
        [
            events.atoms({k: None if v == OTHER else v for k, v in world.items()} | {"due": "2027-01-01"})
            for world in worlds
        ]
    )
    holds = events.evaluate(reading.event, bits)
    atoms = events.add(events.written_variables).event
    for _ in range(30):
        world, fact = rng.randrange(len(worlds)), rng.randrange(len(texts))
        known = rng.sample(range(bits.shape[1]), rng.randint(0, 3))
        facts = [*(atoms[known] ^ ~bits[world, known]), reading.event[fact] ^ int(not holds[world, fact])]
        possible = (bits[:, known] == bits[world, known]).all(axis=1) & (holds[:, fact] == holds[world, fact])
        found = entail(events, np.array(facts, np.int32), np.concatenate([reading.event, atoms]))
        assert found.possible
        for entailed, values in zip(found.truth.tolist(), np.hstack([holds, bits])[possible].T, strict=True):
            assert entailed == (int(values[0]) if len(set(values.tolist())) == 1 else OPEN), texts[fact]


@pytest.mark.parametrize(
    "texts",
    [
        ["winner in {Ann, Bob}", "winner != Cid", "~(winner = Cid)", "winner = Ann | winner = Bob"],
        ["rate >= 3", "~(rate < 3.0)", "rate >= 3e0 & rate > 1", "rate = 3 | rate > 3", "rate >= 0.3e1"],
        ["rate < 3 & rate < 5", "rate < 3"],
        ["winner = Ann & winner = Bob", "false", "winner in {Ann} & winner != Ann", "rate < 1 & rate > 1"],
        ["(winner = Ann & p) | (winner = Bob & p)", "p & winner in {Ann, Bob}", "p & winner != Cid"],
        ["due <= 2027-01-31", "due < 2027-02-01", "~(due > 2027-01-31)"],
        ["exactly(1; winner = Ann, winner = Bob, winner = Cid)", "true", "at_least(1; party = left, party = right)"],
        ["seat = other", '~(seat in {"New York", x, y, z})'],
        ["party = left", "party != right", '"party" = "left"'],
        ["due <= 9999-12-31", "due >= 0001-01-01", "true"],
        ["due > 9999-12-31", "due < 0001-01-01", "false"],
        ["due = 2028-02-29", "due >= 2028-02-29 & due < 2028-03-01"],
    ],
)
def test_the_same_event(texts):
    _, reading = declared(texts)
    assert set(reading.event.tolist()) == {reading.event[0]}


def test_atoms_are_no_plain_names():
    events, reading = declared(["winner = Ann", '"winner = Ann"'])
    assert reading.event.tolist() == [2, 4]
    assert events.variables == ["winner = Ann", "winner = Ann"]
    assert events.written_variables == ["winner = Ann", '"winner = Ann"']
    assert events.add(events.written_variables).event.tolist() == [2, 4]


def test_atoms_are_written_so_that_they_are_read_back():
    texts = [
        "rate < 1e300",
        "rate <= -0.0",
        "rate < 1e-7",
        "due <= 2027-12-31",
        'seat = "New York"',
        "rate < 123456789",
    ]
    events, reading = declared(texts)
    assert events.variables == [
        "rate < 1e300",
        "rate <= 0",
        "rate < 1e-07",
        "due < 2028-01-01",
        'seat = "New York"',
        "rate < 123456789",
    ]
    assert events.add(events.written_variables).event.tolist() == reading.event.tolist()


def test_choices():
    events, _ = declared(["rate < 3", "rate <= 3", "rate < 1", "winner = Bob", "winner = Ann", "party = right"])
    winner, party, rate = events.choices()
    assert (winner.name, winner.atoms.tolist(), winner.ordered, winner.complete) == ("winner", [4, 3], False, False)
    assert (party.atoms.tolist(), party.complete) == ([5], False)
    assert (rate.name, rate.atoms.tolist(), rate.ordered, rate.complete) == ("rate", [2, 0, 1], True, False)
    assert (rate.at.tolist(), rate.inclusive.tolist()) == ([1.0, 3.0, 3.0], [False, False, True])
    events.add(["winner = Cid"])
    assert events.choices()[0].complete
    assert events.choices()[0].values == ("Ann", "Bob", "Cid")


def test_worlds_in_the_users_words():
    events, _ = declared(
        ["winner = Bob & p", "seat in {x, y, z}", 'seat = "New York"', "rate < 3 & rate >= 1", "due < 2027-01-31"]
    )
    world = events.world(np.zeros(len(events.variables), bool))
    assert world == {"p": False, "winner": "Ann", "seat": "x", "rate": 3.0, "due": "2027-01-31"}
    world = events.world(np.ones(len(events.variables), bool))
    assert world == {"p": True, "winner": "Bob", "seat": "New York", "rate": 0.0, "due": "2027-01-30"}
    assert events.holds(events.add(['rate < 1 & seat = "New York"']).event, world).tolist() == [True]
    with pytest.raises(EventError, match="has no value for due"):
        events.atoms({name: value for name, value in world.items() if name != "due"})
    for name, value in (("winner", "Dan"), ("rate", "high"), ("due", "soon"), ("seat", "other")):
        with pytest.raises(EventError, match=f"not a value of {name}"):
            events.atoms(world | {name: value})


def test_large_sets_need_no_truth_table():
    events = Events()
    values = [f"v{i}" for i in range(1000)]
    assert events.declare([f"variable w: {', '.join(values)}"]) == ()
    half, rest = ", ".join(values[:500]), ", ".join(values[500:])
    some = " | ".join(f"w = {value}" for value in values[:40])
    each = ", ".join(f"w = {value}" for value in values[:400])
    texts = [
        f"w in {{{half}}}",
        f"~(w in {{{rest}}})",
        some,
        f"w in {{{', '.join(values[:40])}}}",
        f"exactly(1; {each})",
    ]
    texts += [f"w in {{{', '.join(values[:995])}}} & p", f"w in {{{', '.join(values[:20])}}} & p"]
    reading = events.add(texts)
    side = reading.event
    assert side[0] == side[1]
    assert side[2] == side[3]
    assert np.diff(events.supports(side[[0, 2, 4, 5]] // 2)[0]).tolist() == [500, 40, 400, 6]
    (fault,) = reading.faults
    assert (fault.index, fault.kind) == (6, "limit")
    assert "has 21 variables, values and thresholds; a formula may have 16" in fault.message
    for value in (0, 39, 40, 399, 400, 499, 500, 999):
        truths = events.atoms({"w": f"v{value}", "p": True})
        assert events.evaluate(side[:6], truths[None]).ravel().tolist() == [
            value < 500, value < 500, value < 40, value < 40, value < 400, value < 995,
        ]  # fmt: skip
    (choice,) = events.choices()
    atoms = events.add([events.written_variables[v] for v in choice.atoms.tolist()]).event
    assert (entail(events, side[[2]], atoms).truth == 0).sum() == len(atoms) - 40
    assert entail(events, side[[0]] ^ 1, side[[0, 2, 4]]).truth.tolist() == [0, 0, 0]


def test_a_ladder_has_a_limit_in_one_formula():
    steps = " ^ ".join(f"rate < {i}" for i in range(17))
    events, _ = declared()
    (fault,) = events.add([steps]).faults
    assert (fault.kind, fault.column) == ("limit", 0)
    assert events.add([steps.removesuffix(" ^ rate < 16")]).faults == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("winner & p", "winner is declared (Ann, Bob, Cid), so it is neither true nor false; compare it, "
                       "as in winner = Ann"),
        ("p | rate", "rate is declared (a number), so it is neither true nor false; compare it, as in rate < 3"),
        ("winner = Anne", "Anne is not a value of winner (Ann, Bob, Cid); did you mean Ann?"),
        ("winner in {Ann, bob}", "bob is not a value of winner (Ann, Bob, Cid); did you mean Bob?"),
        ("winner = Zacharias", "Zacharias is not a value of winner (Ann, Bob, Cid)"),
        ("winner = other", "other is not a value of winner (Ann, Bob, Cid)"),
        ("winner < 3", "winner has named values (Ann, Bob, Cid), which have no order; write winner = Ann or in {...}"),
        ("rate = high", "rate is declared as a number; high is not a number such as 2.5"),
        ("rate < 2027-01-31", "rate is declared as a number; 2027-01-31 is not a number such as 2.5"),
        ("due >= 3", "due is declared as a date; 3 is not a date such as 2027-01-31"),
        ("mood = good", "mood is compared with a value but not declared; add `variable mood: good, ...` to the laws"),
    ],
)  # fmt: skip
def test_misuse_is_explained(text, message):
    events, _ = declared()
    (fault,) = events.add([text]).faults
    assert fault.message == message
    assert events.find([text]).faults[0].message == message
    assert fault.column > 0


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("variable", "expected the name of a variable"),
        ("variable w Ann, Bob", "expected ': ' after the name of the variable, as in variable winner: Ann, Bob"),
        ("variable w:Ann, Bob", "expected ': ' after the name of the variable, as in variable winner: Ann, Bob"),
        ("variable w: Ann", "a variable has two values or more; a final ', ...' admits an unnamed other"),
        ("variable w: Ann, Bob, Ann", "the value Ann stands twice; each value stands once"),
        ("variable w: Ann, Bob,", "expected a value, number or date"),
        ("variable w: Ann, ..., Bob", "expected nothing after '...', found ','"),
        ("variable w: Ann, other, ...", "'...' admits an unnamed other, written w = other, so no value may be called "
                                        "other; rename it or drop the '...'"),
        ("variable w: New York, Bob", "expected ',' between values (quote a value of several words), found 'York'"),
        ("variable w: number, date", "expected nothing after the kind of a quantity, found ','"),
        ("variable winner: Dan, Eve", "winner is declared before; declare a variable once, with all its values"),
        ("variable p: Dan, Eve", "p is used before as a variable that is true or false; rename one of the two"),
    ],
)  # fmt: skip
def test_declarations_that_cannot_be_read(statement, message):
    events, _ = declared(["p"])
    (fault,) = events.declare([statement])
    assert fault.message == message


def test_an_open_variable_may_have_one_name_and_a_value_may_be_called_number():
    events = Events()
    assert events.declare(["variable w: Ann, ...", 'variable v: "number", date']) == ()
    side = events.add(["w = Ann", "w != other", "v = number", "v != date"]).event
    assert side.tolist() == [2, 2, 4, 4]


def test_looking_up_adds_nothing():
    events, _ = declared(["winner = Ann", "rate < 3"])
    found = events.find(["winner != Ann", "winner = Bob", "rate >= 3", "rate < 4", "winner = Bob & rate < 4", "false"])
    assert found.event.tolist() == [3, -1, 5, -1, -1, 0]
    assert events.variables == ["winner = Ann", "rate < 3"]


def test_plain_names_may_not_be_those_of_declared_variables():
    events, _ = declared()
    reading = events.add_names(["winner", "winner = Ann"])
    assert reading.sides.tolist() == [[-1, -1, -1], [2, 1, 3]]
    (fault,) = reading.faults
    assert fault.message.startswith("winner is a declared variable")


def test_only_what_rows_tell_is_listed():
    events = Events()
    events.declare(["variable w: a, b, c", "variable rate: number"])
    events.add(["p & w = a", "w = b & q", "w = c & q", "rate < 3"])
    names = events.variables
    nothing = np.zeros((1, len(names)), np.bool_)
    assert events.worlds(nothing, np.array([names.index("p"), names.index("w = a")])) == [{"p": False}]
    assert events.worlds(nothing, np.array([names.index("rate < 3")])) == [{"rate": 3.0}]
    second = np.array([[name == "w = b" for name in names]])
    assert events.worlds(second, np.array([i for i, name in enumerate(names) if name[0] == "w"])) == [{"w": "b"}]
    with pytest.raises(EventError, match="w has no value in this world"):
        events.worlds(nothing)


def test_a_declared_variable_that_no_event_is_about_has_any_value():
    events = Events()
    events.declare(["variable w: a, b", "variable rate: number", "variable due: date"])
    assert [one.decode(np.empty(0, np.bool_)) for one in events.declarations()] == ["a", 0.0, "1970-01-01"]
