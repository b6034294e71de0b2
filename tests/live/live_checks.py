"""Random revisions of a live panel, held against the same panel made and solved from scratch.

`Shadow` is the panel as a plain list of rows, which knows nothing of components. A revision must be refused exactly
where a panel with it cannot be read.
"""

import numpy as np

import coherently as co
from tests.verifier.language import DECLARED

CLOSE = 1e-7
"""To this, answers after any number of revisions are those from scratch."""


class Shadow:
    def __init__(self, rows=(), laws=()):
        self.rows, self.laws, self.outcomes = list(rows), list(laws), {}

    def panel(self, rows=None, laws=None, outcomes=None):
        laws = self.laws if laws is None else laws
        statements = sorted(laws, key=lambda law: (not law.startswith("variable "), law.startswith("P(")))
        return co.Panel.from_records(
            self.rows if rows is None else rows,
            laws=statements or None,
            outcomes=self.outcomes if outcomes is None else outcomes,
        )

    def twin(self, row):
        """Whether the judge of a row has a forecast of the same event already."""
        panel = self.panel(
            rows=[*self.rows, row], laws=[law for law in self.laws if law.startswith("variable ")], outcomes={}
        )
        mine = (panel.judge_index[-1], panel.event_index[-1])
        return mine in set(zip(panel.judge_index[:-1].tolist(), panel.event_index[:-1].tolist(), strict=True))


def accepts(*work):
    """Whether a piece of work raises no error that a user can mend."""
    try:
        work[0](*work[1:])
    except co.CoherentlyError:
        return False
    return True


class Revisions:
    """Random revisions over `groups` sets of variables, which joint events connect now and then."""

    def __init__(self, seed, groups=6, terms=True, **options):
        self.rng, self.terms = np.random.default_rng(seed), terms
        self.groups = groups
        self.shadow = Shadow()
        self.live = co.LivePanel(method=co.Exact(), background=False, **options)
        self.refused = 0

    def names(self):
        group = int(self.rng.integers(self.groups))
        names = [f"{name}{group}" for name in "pqr"]
        if self.rng.random() < 0.05:
            names.append(f"p{self.rng.integers(self.groups)}")
        return names

    def literal(self, names):
        declared = [law.split()[1].strip(":") for law in self.shadow.laws if law.startswith("variable ")]
        if declared and self.rng.random() < 0.1:
            return str(self.rng.choice(DECLARED[str(self.rng.choice(declared))][1]))
        return str(self.rng.choice(["", "~"])) + str(self.rng.choice(names))

    def event(self, most=3, names=None):
        names = names or self.names()
        text = self.literal(names)
        for _ in range(int(self.rng.integers(0, most))):
            text = f"({text}) {self.rng.choice(['&', '|', '->', '^'])} {self.literal(names)}"
        return text

    def number(self):
        return float(self.rng.choice([0.0, 1.0, 0.5, *self.rng.random(6)]))

    def step(self):
        """Make one random revision, in both; whatever one refuses, the other must refuse."""
        kinds = ["add", "revise", "withdraw", "add_law", "drop_law", "resolve"]
        many = len(self.shadow.rows) > 12 * self.groups
        chance = [0.2, 0.35, 0.35, 0.04, 0.04, 0.02] if many else [0.4, 0.3, 0.16, 0.06, 0.05, 0.03]
        getattr(self, str(self.rng.choice(kinds, p=chance)))()

    def add(self):
        names = self.names()
        text = self.event(names=names)
        if self.terms and self.rng.random() < 0.1:
            text = f"{text} given {self.literal(names)}"
        row = {"judge": str(self.rng.choice(list("ABC"))), "event": text, "probability": self.number(), "weight": 1.0}
        row |= {"lower": None, "upper": None}
        if self.terms and self.rng.random() < 0.1:
            row["lower"], row["upper"] = sorted([self.number(), self.number()])
            row["probability"] = None
        if self.rng.random() < 0.3:
            row["weight"] = float(self.rng.choice([0.5, 2.0, 3.7]))
        possible = accepts(self.shadow.panel, [*self.shadow.rows, row]) and not self.shadow.twin(row)
        if self.both(possible, self.live.add, **row):
            self.shadow.rows.append(row)

    def pick(self):
        return int(self.rng.integers(len(self.shadow.rows)))

    def revise(self):
        if not self.shadow.rows:
            return
        place = self.pick()
        row = {**self.shadow.rows[place], "probability": self.number(), "lower": None, "upper": None}
        assert self.both(
            True,
            self.live.revise,
            row["judge"],
            f"({row['event']})" if "given" not in row["event"] else row["event"],
            row["probability"],
        )
        self.shadow.rows[place] = row

    def withdraw(self):
        if len(self.shadow.rows) < 2:
            return
        row = self.shadow.rows.pop(self.pick())
        assert self.both(True, self.live.withdraw, row["judge"], row["event"])

    def add_law(self):
        kind = self.rng.random()
        if kind < 0.2:
            law = DECLARED[str(self.rng.choice(list(DECLARED)))][0]
        elif kind < 0.5 and self.terms:
            law = f"P({self.event(1)}) {self.rng.choice(['<=', '>='])} {self.rng.choice([0.2, 0.5, 0.8])}"
        else:
            law = self.event(2)
        if not self.shadow.rows:
            return
        possible = law not in self.shadow.laws and accepts(self.shadow.panel, None, [*self.shadow.laws, law])
        if self.both(possible, self.live.add_law, law):
            self.shadow.laws.append(law)

    def drop_law(self):
        if not self.shadow.laws:
            return
        law = str(self.rng.choice(self.shadow.laws))
        rest = [other for other in self.shadow.laws if other != law]
        if self.both(accepts(self.shadow.panel, None, rest), self.live.drop_law, law):
            self.shadow.laws = rest

    def resolve(self):
        if not self.shadow.rows:
            return
        event = str(self.rng.choice([row["event"] for row in self.shadow.rows]))
        outcome = int(self.rng.integers(2))
        if event in self.shadow.outcomes and self.rng.random() < 0.7:
            outcome = None
        outcomes = {**self.shadow.outcomes, event: outcome}
        if outcome is None:
            del outcomes[event]
        if self.both(accepts(self.shadow.panel, None, None, outcomes), self.live.resolve, event, outcome):
            self.shadow.outcomes = outcomes

    def both(self, possible, call, *args, **options):
        """Call the live panel, which must refuse what is not possible, and nothing else."""
        if possible:
            call(*args, **options)
            return True
        before = self.live.current().revision
        try:
            call(*args, **options)
        except co.CoherentlyError:
            self.refused += 1
            assert self.live.current().revision == before
            return False
        raise AssertionError(f"{call.__name__} accepted {args} {options}")

    def compare(self):
        """The live panel is the one from scratch, and so are its answers; returns the largest difference."""
        if not self.shadow.rows:
            return 0.0
        panel, mine = self.shadow.panel(), self.live.panel()
        assert mine.written == panel.written
        for name in ("judge_index", "event_index", "probability", "weight"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(panel, name))
        current = self.live.settle()
        try:
            scratch = co.aggregate(panel, co.Exact())
        except co.ContradictionError as error:
            assert current.problems, error
            return 0.0
        assert current.is_settled, current.problems
        result = current.result()
        assert result.status == scratch.status == "optimal"
        assert result.lower_bound <= scratch.objective
        assert scratch.lower_bound <= result.objective
        assert co.verify(panel, result).problems == [], (
            co.verify(panel, result).problems,
            co.verify(panel, scratch).problems,
        )
        if len(scratch.problem.merged.terms):  # answers need not be unique, or no nearer than the tolerance says
            apart = abs(result.objective - scratch.objective) / max(1, scratch.objective)
        else:
            apart = float(np.nanmax(np.abs(result.solution.value - scratch.solution.value)))
        assert apart <= (1e-6 if len(scratch.problem.merged.terms) else CLOSE), apart
        for text, value in zip(panel.written.text, result.solution.value.tolist(), strict=True):
            assert current.probability(text) == value or np.isnan(value), text
        return apart


def check_revisions(seed, count, groups=6, every=100, **options):
    """Make so many random revisions, compare now and then and at the end; returns the largest difference."""
    revisions = Revisions(seed, groups, **options)
    worst = 0.0
    try:
        for number in range(1, count + 1):
            revisions.step()
            if number % every == 0:
                worst = max(worst, revisions.compare())
        worst = max(worst, revisions.compare())
    except Exception as error:
        error.add_note(f"seed {seed}: {revisions.shadow.rows} under {revisions.shadow.laws}")
        raise
    finally:
        revisions.live.close()
    return worst
