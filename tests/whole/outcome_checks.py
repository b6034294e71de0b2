"""Outcomes held against an enumeration of all worlds: what follows, what does not, and what no world has.

An independent grammar evaluates every text; each panel has laws, declared variables, counts and conditionals.
"""

import random
import re

import numpy as np
import pytest

import coherently as co
from coherently.panel import CALLED_OFF, UNRESOLVED
from tests.events.oracle import OTHER
from tests.whole.language_checks import STATEMENTS, VALUES, text
from tests.whole.reference import Case

PLAIN = dict.fromkeys("rstuv", (False, True))
DOMAINS = {**VALUES, **PLAIN}


def literal(rng, names):
    """One comparison or variable, or its complement."""
    name = rng.choice(names)
    return rng.choice((name, f"~{name}")) if name in PLAIN else f"({text(rng, [name, 'p'], 1)})"


def formula(rng, names, most):
    """Literals under operators, or a count of some of them."""
    parts = [literal(rng, names) for _ in range(rng.randint(1, most))]
    if len(parts) > 1 and rng.random() < 0.3:
        kind = rng.choice(("exactly", "at_least", "at_most"))
        return f"{kind}({rng.randint(0, len(parts))}; {', '.join(parts)})"
    found = parts[0]
    for part in parts[1:]:
        found = f"({found}) {rng.choice(('&', '|', '->', '^', '<->'))} {part}"
    return found


def random_case(rng):
    """Laws that some world obeys, and forecasts of events and conditionals that the laws allow."""
    names = ["p", *rng.sample([name for name in DOMAINS if name != "p"], rng.randint(1, 5))]
    case = Case({name: DOMAINS[name] for name in names}, [], [STATEMENTS[n] for n in names if n in STATEMENTS])
    for _ in range(rng.randint(0, 5)):
        case.formulas.append(formula(rng, names, 3))
        if not len(case.allowed):
            case.formulas.pop()
    case.rows.extend(
        {"judge": "A", "event": random_event(rng, case, names, 4), "probability": 0.5, "outcome": None}
        for _ in range(rng.randint(2, 9))
    )
    return case


def random_event(rng, case, names, most):
    event = formula(rng, names, most)
    if rng.random() < 0.25:
        given = f"({event}) given ({formula(rng, names, 2)})"
        if case.truth(given)[1].any():
            return given
    return event


class Stated:
    """Outcomes by their place in messages, each with the worlds that have it."""

    def __init__(self, case):
        self.case, self.mapping = case, {}
        self.worlds = {
            ("laws", len(case.declarations) + i): case.everywhere(law)[0] for i, law in enumerate(case.formulas)
        }

    def row(self, index, outcome):
        """State an outcome in the column of the panel."""
        self.case.rows[index]["outcome"] = int(outcome)
        self.worlds["records", index] = self.having(self.case.rows[index]["event"], outcome)

    def beside(self, event, outcome):
        """State one beside the panel."""
        if event not in self.mapping:
            self.worlds["outcomes", len(self.mapping)] = self.having(event, outcome)
            self.mapping[event] = outcome

    def value(self, name, value):
        """State the value of a declared variable."""
        grid = np.meshgrid(*(np.arange(len(own)) for own in self.case.domains.values()), indexing="ij")
        place = list(self.case.domains).index(name)
        own = np.array([one == value for one in self.case.domains[name]])
        self.worlds["outcomes", len(self.mapping)] = own[grid[place].ravel()]
        self.mapping[name] = "other" if value == OTHER else value

    def having(self, event, outcome):
        joint, given = self.case.everywhere(event)
        return joint if outcome else given & ~joint

    def left(self, without=None):
        """The worlds that laws and outcomes leave, perhaps without one of the statements."""
        return self.together([worlds for place, worlds in self.worlds.items() if place != without])

    def together(self, worlds):
        count = len(self.case.everywhere("true")[0])
        return np.all([np.ones(count, bool), *worlds], axis=0)


def random_outcomes(rng, case):
    """Those of one world, or of none: each at random, or of two worlds."""
    stated, kind = Stated(case), rng.choice(("one", "one", "two", "random"))
    worlds = [rng.choice(case.allowed.tolist()) for _ in range(2 if kind == "two" else 1)]
    names = list(case.domains)
    share = rng.choice((0.1, 0.3, 0.6))

    def outcome(event):
        joint, given = case.everywhere(event)
        world = rng.choice(worlds)
        if kind == "random":
            return rng.random() < 0.5
        return bool(joint[world]) if given[world] else None

    for index, row in enumerate(case.rows):
        if rng.random() < share and (found := outcome(row["event"])) is not None:
            stated.row(index, found)
    for _ in range(rng.randint(0, 4)):
        event = random_event(rng, case, names, 4)
        if (found := outcome(event)) is not None:
            stated.beside(event, found)
    declared = [name for name in names if name in STATEMENTS]
    if declared and rng.random() < 0.3:
        name = rng.choice(declared)
        shape = [len(own) for own in case.domains.values()]
        at = np.unravel_index(rng.choice(worlds), shape)[names.index(name)]
        stated.value(name, rng.choice(case.domains[name]) if kind == "random" else case.domains[name][at])
    return stated


def check_outcomes(seed, count):
    """Hold so many panels against enumeration; how many were refused, complete and partly resolved."""
    rng, seen = random.Random(seed), {"refused": 0, "complete": 0, "partial": 0}
    for number in range(count):
        case = random_case(rng)
        stated = random_outcomes(rng, case)
        try:
            seen[check_case(case, stated)] += 1
        except BaseException as error:
            error.add_note(f"panel {number} of seed {seed}: {case.rows} under {case.laws} with {stated.mapping}")
            raise
    return seen


def check_case(case, stated):
    left = stated.left()
    if not left.any():
        with pytest.raises(co.PanelError) as raised:
            co.Panel.from_records(case.rows, laws=case.laws, outcomes=stated.mapping)
        check_conflicts(stated, str(raised.value))
        return "refused"
    panel = co.Panel.from_records(case.rows, laws=case.laws, outcomes=stated.mapping)
    nothing_stated = all(place == "laws" for place, _ in stated.worlds)
    for event, found in zip(panel.written.text, panel.written.outcome.tolist(), strict=True):
        assert found == (UNRESOLVED if nothing_stated else expected(case, left, event)), (event, found)
    return "complete" if (panel.written.outcome != UNRESOLVED).all() else "partial"


def expected(case, left, event):
    """The outcome that all worlds that are left have."""
    joint, given = (one[left] for one in case.everywhere(event))
    if not given.any():
        return CALLED_OFF
    return int(joint[0]) if given.all() and len(set(joint.tolist())) == 1 else UNRESOLVED


def check_conflicts(stated, message):
    """Each set of statements in a message is contradictory, and no longer so without any one of them."""
    blocks = re.findall(r"(?m)(?:^  .*\n)+", message)
    assert blocks, message
    for block in blocks:
        named = [
            (source, int(number) - 1)
            for source, number in re.findall(r"(?m)^  (records|outcomes|laws) (?:row|statement) (\d+): ", block)
        ]
        assert len(named) == block.count("\n"), block
        worlds = [stated.worlds[place] for place in named]
        assert not stated.together(worlds).any(), block
        for i in range(len(worlds)):
            assert stated.together(worlds[:i] + worlds[i + 1 :]).any(), block
