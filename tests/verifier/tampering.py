"""Results edited in every field: what is claimed may not change unnoticed, and what stays the same must pass.

Each edit takes the JSON of a result and gives it forged, with whether it must be refused; or None where it would change
nothing that the verifier can resolve (1e-9, relative to the largest weight), or only what it lists as unchecked.
"""

import copy
import itertools
import json

import numpy as np

import coherently as co
from coherently.events import CERTAIN
from coherently.problem import BRIER, settled
from coherently.verifier.distinct_events import merge
from tests.verifier.field_edits import edits, is_named, name_of, places
from tests.verifier.language import cases

EDITS_EACH, FIELDS_EACH = 12, 6
"""Edits of one result: of kinds with a meaning, and of any field in any way."""
REFUSED, ACCEPTED = "refused", "accepted"


def check_tampering(seed, count):
    """So many edits, each refused or accepted as it must be; how many of each kind there were."""
    done = dict.fromkeys(EDITS, 0)
    for rng, panel, result in cases(seed):
        original = json.loads(result.to_json())
        honest = co.verify(panel, co.Result.from_json(json.dumps(original)))
        assert honest, (seed, honest.problems, original)
        case = Case(rng, panel, original, honest)
        for kind in [*rng.choice(list(EDITS), EDITS_EACH).tolist(), *["any_field"] * FIELDS_EACH]:
            record = copy.deepcopy(original)
            expected = EDITS[kind](record, case)
            if expected is None:
                continue
            verdict, problems = verdict_of(panel, record)
            assert verdict == expected, (seed, kind, expected, problems, original, record)
            done[kind] += 1
            count -= 1
            if count <= 0:
                return done
    return done


def verdict_of(panel, record):
    """What the verifier says of a record; one that cannot be read is refused, too."""
    try:
        checked = co.verify(panel, co.Result.from_json(json.dumps(record)))
    except co.CoherentlyError as error:
        return REFUSED, str(error)
    return (ACCEPTED if checked else REFUSED), checked.problems


class Case:
    """A panel with a result of it, and what brute force says of its worlds."""

    def __init__(self, rng, panel, original, honest):
        self.rng, self.panel, self.original, self.honest = rng, panel, original, honest
        self.conditional = bool((panel.written.condition != CERTAIN).any())
        self.intervals = panel.lower is not None and not (np.isnan(panel.lower) & np.isnan(panel.upper)).all()
        self.is_exact = original["method"] in ("exact", "auto") and original["status"] == "optimal"

    def amount(self, low=-6.0, high=0.0):
        """A change, small or large, up or down."""
        return float(self.rng.choice([-1, 1])) * 10 ** self.rng.uniform(low, high)

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def is_unchecked(self, what):
        return any(one.startswith(what) for one in self.honest.unchecked)

    def worlds(self):
        """Every truth assignment that declarations and laws allow."""
        events = self.panel.events
        rows = np.array(list(itertools.product([False, True], repeat=len(events.variables))), bool)
        return rows[self.obeys(rows)]

    def is_implied(self, law):
        """Whether the other laws leave no more worlds than all of them do."""
        laws, count = self.panel.laws, len(self.panel.events.variables)
        rows = np.array(list(itertools.product([False, True], repeat=count)), bool)
        held = self.panel.events.evaluate(laws.side, rows)
        others = [i for i, text in enumerate(laws.text) if text != law]
        return len(others) < len(laws.text) and bool((held[:, others].all(axis=1) == held.all(axis=1)).all())

    def obeys(self, rows):
        events, laws = self.panel.events, self.panel.laws
        held = events.evaluate(laws.side, rows).all(axis=1) if len(laws) else np.ones(len(rows), bool)
        for choice in events.choices():
            own = rows[:, choice.atoms]
            if choice.ordered:
                held &= (own[:, 1:] >= own[:, :-1]).all(axis=1)
            else:
                held &= (own.sum(axis=1) == 1) if choice.complete else (own.sum(axis=1) <= 1)
        return held

    def saved(self):
        """The Brier penalty that the probabilities save in the worst world."""
        panel = self.panel
        x = np.array([row["probability"] for row in self.original["forecasts"]], float)[panel.event_index]
        v = panel.events.evaluate(panel.written.event, self.worlds())[:, panel.event_index].astype(float)
        weighty = panel.weight > 0
        lost = ((v - panel.probability) ** 2 - (v - x) ** 2)[:, weighty] @ panel.weight[weighty]
        return float(lost.min())

    def tells(self, parts):
        """The probabilities of all that matters in the worlds of parts; None where a world breaks a law."""
        events, pins = self.panel.events, self.panel.laws.pins
        number = {name: v for v, name in enumerate(events.written_variables)}
        ends = [np.cumsum(part["weights"]) for part in parts]
        cuts = np.unique(np.concatenate([end[:-1] for end in ends] + [[0.0, 1.0]]))
        cuts = cuts[(cuts >= 0) & (cuts <= 1)]
        rows = np.zeros((len(cuts) - 1, len(events.variables)), bool)
        middle = (cuts[1:] + cuts[:-1]) / 2
        for part, end in zip(parts, ends, strict=True):
            bits = np.array([[bit == "1" for bit in world] for world in part["worlds"]], bool)
            at = np.minimum(np.searchsorted(end, middle), len(end) - 1)
            rows[:, [number[name] for name in part["variables"]]] = bits.reshape(len(end), -1)[at]
        used = np.isin(np.arange(len(events.variables)), [number[v] for part in parts for v in part["variables"]])
        free = Case.obeys(self, rows)
        if not free.all() and self._all_used(used):
            return None
        written = settled(self.panel).written
        sides = np.concatenate([written.event, written.condition, pins.event, pins.condition])
        return np.diff(cuts) @ events.evaluate(sides.astype(np.int32), rows)

    def _all_used(self, used):
        """Whether no law or declaration is about variables that parts do not have."""
        _, members = self.panel.events.supports(self.panel.laws.side // 2)
        atoms = [choice.atoms for choice in self.panel.events.choices()]
        return bool(used[np.concatenate([members, *atoms]).astype(int)].all())


def _shift(record, name, amount):
    record[name] += amount * max(1.0, abs(record[name]))


def _regap(record):
    if record["objective"] is not None and record["lower_bound"] is not None:
        record["gap"] = record["objective"] - record["lower_bound"]


def probability(record, case):
    row = case.pick(record["forecasts"])
    amount = case.amount()
    before = row["probability"]
    if before is None or not 0 <= before + amount <= 1:
        return None
    row["probability"] += amount
    if record["coherence"] == "global":
        given = 1.0
        if " given " in row["event"]:
            unit = [one["event"] for one in record["forecasts"]].index(row["event"])
            tells = case.tells(record["worlds"])
            given = 0.0 if tells is None else tells[len(record["forecasts"]) + unit]
        return REFUSED if given > 1e-5 and abs(amount) * given > 1e-8 else None
    if record["method"] == "linear":
        return REFUSED
    if record["coherence"] == "none" or case.is_unchecked("the objective and") or record["loss"] != "brier":
        return None
    written = case.panel.written
    unit = [one["event"] for one in record["forecasts"]].index(row["event"])
    if case.intervals or (written.event == written.rest[unit]).any() or row["raw"] is None or not row["weight"]:
        return None
    moved = row["weight"] * ((before + amount - row["raw"]) ** 2 - (before - row["raw"]) ** 2)
    return REFUSED if abs(moved) > 1e-8 * max(3.0, record["objective"]) else None


def beyond(record, case):
    case.pick(record["forecasts"])["probability"] = float(case.rng.choice([-0.1, 1.1, 7.0]))
    return REFUSED


def no_probability(record, case):
    row = case.pick(record["forecasts"])
    if row["probability"] is None or not row["weight"]:
        return None
    row["probability"] = None
    return REFUSED


def raw(record, case):
    row = case.pick(record["forecasts"])
    before = row["raw"]
    if before is None:
        row["raw"] = 0.5
    elif case.rng.random() < 0.2:
        row["raw"] = None
    else:
        row["raw"] = float(np.clip(before + case.amount(), 0.0, 1.0))
        return REFUSED if abs(before - row["raw"]) > 1e-8 else None
    return REFUSED


def weight(record, case):
    row = case.pick(record["forecasts"])
    row["weight"] = abs(row["weight"] + case.amount() * max(1.0, row["weight"]))
    before = [one["weight"] for one in case.original["forecasts"]]
    after = [one["weight"] for one in record["forecasts"]]
    return REFUSED if np.abs(np.subtract(before, after)).max() > 1e-7 else None


def objective(record, case):
    if record["objective"] is None or case.is_unchecked("the objective and"):
        return None
    _shift(record, "objective", case.amount())
    _regap(record)
    if record["components"] and case.rng.random() < 0.5:
        record["components"][0]["objective"] += record["objective"] - case.original["objective"]
    return REFUSED


def new_objective(record, _):
    record["objective"] = 0.5 if record["objective"] is None else None
    return REFUSED


def bound_alone(record, case):
    if record["lower_bound"] is None:
        record["lower_bound"] = 0.1
        return None if case.original["method"] not in KNOWN else REFUSED
    _shift(record, "lower_bound", case.amount())
    return REFUSED


def bound_raised(record, case):
    """A lower bound above the least distance, with all that follows from it."""
    if record["lower_bound"] is None or case.is_unchecked("the lower bound") or case.is_unchecked("the objective and"):
        return None
    if record["method"] == "dykstra":
        least = record["objective"] + 1e-6
    elif record["method"] in ("exact", "auto", "annealing"):
        least = case.original["objective"] if case.is_exact else _least(record, case)
    else:
        return None
    if least is None:
        return None
    claim = least + abs(case.amount(-7, 0)) * max(3.0, least)
    if record["components"]:
        k = int(case.rng.integers(len(record["components"])))
        record["components"][k]["lower_bound"] += claim - record["lower_bound"]
    record["lower_bound"] = claim
    _regap(record)
    return REFUSED


def _least(record, case):
    """The least distance, by the exact method; None where the record measures another way."""
    form = record["conditionals"] or "called_off"
    if form == "ratio":
        return None
    loss = co.Log(record["clip"]) if record["clip"] else record["loss"]
    found = co.aggregate(case.panel, co.Exact(conditionals=form), loss)
    return found.objective + found.gap if found.status == "optimal" else None


def gap(record, case):
    record["gap"] = 0.1 if record["gap"] is None else record["gap"] + case.amount()
    return REFUSED


def improvement(record, case):
    """More than the worst world saves; or less than is claimed, which is no less true."""
    claim, silent = record["guaranteed_improvement"], {"annealing", "lindley", "dempster-shafer", *POOLS}
    if case.intervals or record["method"] in silent:
        record["guaranteed_improvement"] = 0.0
        return REFUSED
    unknown = case.conditional or case.is_unchecked("the guaranteed improvement") or record["method"] not in KNOWN
    if unknown or any(row["probability"] is None for row in record["forecasts"]):
        return None
    if claim is not None and case.rng.random() < 0.2:
        record["guaranteed_improvement"] = claim - abs(case.amount())
        return ACCEPTED
    total = sum(row["weight"] for row in record["forecasts"])
    record["guaranteed_improvement"] = case.saved() + abs(case.amount(-7, 0)) * max(3.0, total)
    return REFUSED


def status(record, case):
    words = ("optimal", "averaged", "time_limit", "converged", "sweep_limit", "pass_limit", "interrupted")
    before, after = record["status"], case.pick([word for word in words if word != record["status"]])
    record["status"] = after
    limits = {"time_limit", "interrupted", "sweep_limit", "pass_limit", "unproved"}
    if (before in limits and after in limits) or record["method"] not in KNOWN:
        return None
    if before == "converged" and after in limits:  # a weaker claim, and how a method ended is not to be seen
        return None
    if after == "converged" and record["method"] in ("annealing", "lindley", "median, then exact"):
        return None
    if after == "converged" and record["coherence"] == "local" and (record["violation"] or 0.0) < 1e-3:
        return None
    return REFUSED


def coherence(record, case):
    record["coherence"] = case.pick([word for word in ("none", "local", "global") if word != record["coherence"]])
    return REFUSED


def tolerance(record, case):
    if record["status"] != "optimal":
        if record["gap"] is None or record["method"] not in ("exact", "auto") or record["coherence"] != "global":
            return None
        record["tolerance"] = 2 * record["gap"] + 0.1
        return REFUSED
    if case.rng.random() < 0.5 and record["gap"] > 1e-8 * max(3.0, record["objective"]):
        record["tolerance"] = 0.0
        return REFUSED
    record["tolerance"] = float(case.rng.choice([0.2, 1.0, 10.0, 1e9]))
    return REFUSED


def violation(record, case):
    before = record["violation"]
    if record["coherence"] == "global":
        record["violation"] = abs((before or 0.0) + case.amount())
        return REFUSED if abs(record["violation"] - (before or 0.0)) > 1e-8 else None
    if record["coherence"] == "none":
        record["violation"] = 0.1
        return REFUSED
    if before < 1e-6 or record["loss"] != "brier" or case.conditional or case.intervals or len(case.panel.laws.pins):
        return None
    record["violation"] = before * case.rng.uniform(0, 0.9)
    return REFUSED


def raw_for_coherent(record, case):
    """The raw means, called locally coherent, with the distance 0."""
    if record["coherence"] != "local" or record["violation"] > 1e-6 or record["objective"] < 1e-4:
        return None
    if case.conditional or case.intervals or len(case.panel.laws.pins):
        return None
    if any(row["raw"] is None for row in record["forecasts"]) or record["loss"] != "brier":
        return None
    written = case.panel.written
    if np.isin(written.event, written.rest).any():
        return None
    for row in record["forecasts"]:
        row["probability"] = row["raw"]
    record["objective"], record["guaranteed_improvement"] = 0.0, 0.0
    if record["lower_bound"] is not None:
        record["lower_bound"] = 0.0
        _regap(record)
    return REFUSED


def component_field(record, case):
    if not record["components"] or "components" in case.honest.unchecked_fields:
        return None
    component = case.pick(record["components"])
    field = case.pick(["variables", "events", "coherence", "objective", "lower_bound"])
    if field == "lower_bound" and record["lower_bound"] is None:
        return None  # there is no sum to it, and a little more than 0 may well be true
    if field == "coherence":
        component[field] = case.pick(["none", "local", "sound"])
    elif field in ("variables", "events"):
        component[field] += 1
    elif component[field] is None:
        component[field] = 0.5
    else:
        component[field] += case.amount() * max(3.0, component[field])
    return REFUSED


def components(record, case):
    if not record["components"] or "components" in case.honest.unchecked_fields:
        return None
    if case.rng.random() < 0.5:
        record["components"].append(dict(case.pick(record["components"])))
    else:
        record["components"].pop(int(case.rng.integers(len(record["components"]))))
    return REFUSED if record["components"] else None


def method(record, case):
    before, after = record["method"], case.pick(sorted(KNOWN - {record["method"]}))
    record["method"] = after
    alike = [{"exact", "auto"}, {"lindley", "dempster-shafer"}, POOLS, {"dykstra", "auto"}]
    if before not in KNOWN or any({before, after} <= some for some in alike):
        return None
    return REFUSED


def _is_inside(row):
    """Whether every forecast of an event is an interval that contains the answer."""
    ends = [(one.get("lower"), one.get("upper")) for one in row.get("rows", [{}])]
    return all(None not in pair and pair[0] <= row["probability"] <= pair[1] for pair in ends)


def loss(record, case):
    if record["objective"] is None or record["objective"] < 1e-4 or case.is_unchecked("the objective and"):
        return None
    after = case.pick([name for name in ("brier", "log", "spherical") if name != record["loss"]])
    # The spherical loss is Brier's where forecasts of 0 or 1 are turned around.
    # Inside an interval nothing is lost under any loss.
    apart = [row for row in record["forecasts"] if row["weight"] and 0.01 < row["raw"] < 0.99 and not _is_inside(row)]
    moved = any(abs(row["probability"] - row["raw"]) > 0.01 for row in apart)
    alike = "log" not in (record["loss"], after) and not moved
    record["loss"], record["clip"] = after, 1e-4 if after == "log" else None
    return None if alike else REFUSED


def conditionals(record, _):
    if record["objective"] is None:
        return None
    record["conditionals"] = "called_off" if record["conditionals"] is None else None
    return REFUSED


def design(record, _):
    if record["coherence"] == "none":
        return None
    record["groups"] = "logical" if record["groups"] is None else None
    return REFUSED


def format_(record, case):
    record[case.pick(["format", "version"])] = case.pick(["something", 7])
    return REFUSED


def field_dropped(record, case):
    del record[case.pick(sorted(record))]
    return REFUSED


def law_dropped(record, case):
    if not record["laws"]:
        return None
    dropped = record["laws"].pop(int(case.rng.integers(len(record["laws"]))))
    return None if dropped in record["laws"] or case.is_implied(dropped) else REFUSED


def law_added(record, case):
    names = case.panel.events.variables
    plain = [v for v, name in enumerate(names) if name in ("p", "q", "r")]
    if not plain:
        return None
    first, last = case.worlds()[:, [plain[0], plain[-1]]].T
    p, q = names[plain[0]], names[plain[-1]]
    text, implied = case.pick([(f"P({p}) <= 0.999", ~first), (f"{p} | {q} | zz", first | last), (f"~{p}", ~first)])
    record["laws"].append(text)
    return None if implied.all() else REFUSED


def pin_relaxed(record, case):
    pins = [i for i, text in enumerate(record["laws"]) if text.startswith("P(")]
    if not pins:
        return None
    i = case.pick(pins)
    start, _, number = record["laws"][i].rpartition(" ")
    record["laws"][i] = f"{start} {abs(float(number) - 0.05):.3f}"
    return REFUSED


def event_dropped(record, case):
    del record["forecasts"][int(case.rng.integers(len(record["forecasts"])))]
    return REFUSED


def event_renamed(record, case):
    case.pick(record["forecasts"])["event"] = "zz & p"
    return REFUSED


def events_swapped(record, case):
    case.rng.shuffle(record["forecasts"])
    return ACCEPTED


def no_worlds(record, _):
    record["worlds"] = None if record["worlds"] is not None else []
    return REFUSED


def _part(record, case, least=1):
    """A part with so many variables that forecasts reach; what is said of others is no claim."""
    home = merge(settled(case.panel), BRIER).home_of_variable
    reached = {name for v, name in enumerate(case.panel.events.written_variables) if home[v] >= 0}
    parts = [part for part in record["worlds"] or [] if len(reached.intersection(part["variables"])) >= least]
    parts = [part for part in parts if reached.issuperset(part["variables"])]
    return case.pick(parts) if parts else None


def _judged(record, case):
    """Whether changed worlds obey all statements and give the forecasts the same probabilities."""
    before, after = case.tells(case.original["worlds"]), case.tells(record["worlds"])
    if after is None:
        return REFUSED
    pins, count = case.panel.laws.pins, 2 * len(case.panel.written)
    joint, given = np.split(after[count:], 2)
    missed = np.abs(joint - np.clip(joint, pins.low * given, pins.high * given)).max(initial=0.0)
    admitted = record["violation"] or 0.0
    # What is forecast given an event below 1e-6 stands as it is, so that worlds say nothing of it: before the change,
    # or after it where the forecast was met already.
    rows = record["forecasts"]
    met = [row["raw"] is not None and row["probability"] is not None for row in rows]
    met &= np.abs([(row["probability"] or 0.0) - (row["raw"] or 0.0) for row in rows]) <= 1e-9
    given_before, given_after = before[count // 2 : count], after[count // 2 : count]
    stands = np.tile((given_after <= 1e-6) & ((given_before <= 1e-6) | met), 2)
    told = np.where(stands, 0.0, np.abs(before - after)[:count])
    off = max(told.max(), missed - admitted if len(pins) else 0.0)
    if admitted > 1e-10 and len(pins):
        return None
    return ACCEPTED if off < 1e-12 else REFUSED if off > 1e-8 else None


def bit(record, case):
    part = _part(record, case)
    if part is None:
        return None
    row = int(np.argmax(part["weights"])) if case.rng.random() < 0.5 else int(case.rng.integers(len(part["weights"])))
    column = int(case.rng.integers(len(part["variables"])))
    world = part["worlds"][row]
    part["worlds"][row] = world[:column] + "10"[int(world[column])] + world[column + 1 :]
    return _judged(record, case)


def moved(record, case):
    part = _part(record, case)
    if part is None or len(part["weights"]) < 2:
        return None
    i, j = case.rng.choice(len(part["weights"]), 2, replace=False).tolist()
    amount = part["weights"][i] * case.rng.uniform(0.01, 1.0)
    part["weights"][i] -= amount
    part["weights"][j] += amount
    return _judged(record, case)


def weight_of_world(record, case):
    part = _part(record, case, 0)
    if part is None:
        return None
    k = int(case.rng.integers(len(part["weights"])))
    part["weights"][k] += case.amount()
    return REFUSED


def negative(record, case):
    part = _part(record, case, 0)
    if part is None:
        return None
    part["weights"] += [-0.25, 0.25]
    part["worlds"] += [part["worlds"][0]] * 2
    return REFUSED


def world_halved(record, case):
    part = _part(record, case, 0)
    if part is None:
        return None
    k = int(case.rng.integers(len(part["weights"])))
    part["weights"][k] /= 2
    part["weights"].append(part["weights"][k])
    part["worlds"].append(part["worlds"][k])
    return ACCEPTED


def permuted(record, case):
    """Worlds, variables and parts in another order."""
    if not record["worlds"]:
        return None
    for part in record["worlds"]:
        rows = case.rng.permutation(len(part["weights"]))
        columns = case.rng.permutation(len(part["variables"]))
        part["weights"] = [part["weights"][i] for i in rows]
        part["worlds"] = ["".join(part["worlds"][i][k] for k in columns) for i in rows]
        part["variables"] = [part["variables"][k] for k in columns]
    case.rng.shuffle(record["worlds"])
    return ACCEPTED


def parts_joined(record, _):
    """Two parts as one: every world of the one with every world of the other."""
    if not record["worlds"] or len(record["worlds"]) < 2:
        return None
    one, two = record["worlds"].pop(), record["worlds"].pop()
    record["worlds"].append(
        {
            "variables": one["variables"] + two["variables"],
            "weights": [a * b for a in one["weights"] for b in two["weights"]],
            "worlds": [a + b for a in one["worlds"] for b in two["worlds"]],
        }
    )
    return ACCEPTED


def part_split(record, case):
    """The worlds of one component in two parts, which cannot see each other."""
    if record["method"] in ("annealing", "lindley") and record["coherence"] == "global":
        return None  # one part for all components
    part = _part(record, case, 2)
    if part is None:
        return None
    record["worlds"].remove(part)
    cut = int(case.rng.integers(1, len(part["variables"])))
    for some in (slice(0, cut), slice(cut, None)):
        record["worlds"].append(
            {
                "variables": part["variables"][some],
                "weights": part["weights"],
                "worlds": [world[some] for world in part["worlds"]],
            }
        )
    return REFUSED


def _unless_completed(record, names):
    """What statements alone settle the reader of a record completes; worlds that it completes rightly are right."""
    try:
        worlds = co.Result.from_json(json.dumps(record)).worlds
    except co.CoherentlyError:
        return REFUSED
    told = {worlds.names[v] for part in worlds.parts for v in part.variables.tolist()} if worlds else set()
    return None if told.intersection(names) else REFUSED


def variable_left_out(record, case):
    part = _part(record, case)
    if part is None:
        return None
    k = int(case.rng.integers(len(part["variables"])))
    name = part["variables"].pop(k)
    part["worlds"] = [world[:k] + world[k + 1 :] for world in part["worlds"]]
    return _unless_completed(record, [name])


def variable_renamed(record, case):
    part = _part(record, case)
    if part is None:
        return None
    names = [name for other in record["worlds"] for name in other["variables"]]
    k = int(case.rng.integers(len(part["variables"])))
    part["variables"][k] = case.pick([name for name in [*names, "zz"] if name != part["variables"][k]])
    return REFUSED


def part_dropped(record, case):
    part = _part(record, case)
    if part is None:
        return None
    record["worlds"].remove(part)
    return _unless_completed(record, part["variables"])


def any_field(record, case):
    """Any change of any field: it is refused, or its name stands among what is unchecked, or as much is claimed."""
    path = case.pick(list(places(record)))
    name = name_of(path)
    what, _, edited = case.pick([*edits(record, [path])][1:])
    record.clear()
    record.update(edited)
    try:
        checked = co.verify(case.panel, co.Result.from_json(json.dumps(record)))
    except co.CoherentlyError:
        return REFUSED
    if not checked:
        return REFUSED
    assert is_named(name, checked.unchecked_fields) or is_true(case, name, record), (what, name, checked)
    return ACCEPTED


def is_true(case, name, record):
    """Whether an edit claims no more than the original: less is guaranteed, or other worlds show the same."""
    before = case.original
    if name == "guaranteed_improvement":
        return before[name] is None or record[name] < before[name]
    if name == "violation":  # of pins: without a number none is missed
        return {record[name], before[name]} == {None, 0.0} and record["coherence"] == "global"
    if name.startswith("worlds"):
        told, honest = case.tells(record["worlds"]), case.tells(before["worlds"])
        return told is not None and abs(told - honest).max() < 1e-12
    if name == "forecasts.event":  # in other words
        texts = [[row["event"] for row in one["forecasts"]] for one in (before, record)]
        sides = [case.panel.events.find(some).sides.tolist() for some in texts]
        return sides[0] == sides[1]
    return name == "laws" and len(record["laws"]) == len(before["laws"])  # in other words, such as a pin at 0.600


POOLS = {
    *("linear", "median", "log", "trimmed", "extremised", "shrunk", "neyman-roughgarden"),
    *("normalised", "power", "shin"),
}
KNOWN = {"exact", "auto", "dykstra", "projections", "annealing", "lindley", "dempster-shafer", *POOLS}
EDITS = {
    edit.__name__: edit
    for edit in (
        *(probability, probability, beyond, no_probability, raw, weight, event_dropped, event_renamed, events_swapped),
        *(objective, new_objective, bound_alone, bound_raised, gap, improvement, status, coherence, tolerance),
        *(violation, raw_for_coherent, component_field, components, method, loss, conditionals, design),
        *(format_, field_dropped, law_dropped, law_added, pin_relaxed, no_worlds, bit, moved, weight_of_world),
        *(negative, world_halved, permuted, parts_joined, part_split, variable_left_out, variable_renamed),
        part_dropped,
        any_field,
    )
}
"""The edits by name."""
