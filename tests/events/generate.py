"""Random texts for the event language: valid forecasts, near misses and noise.

A formula is a nested tuple whose first item is its kind:
("variable", name), ("constant", value), ("comparison", *tokens),
("not" | "group", formula), where a group is a redundant pair of parentheses, ("implies", left, right),
("and" | "xor" | "or" | "iff", *formulas), ("exactly" | "at_least" | "at_most", count, *formulas).
"""

from __future__ import annotations

import functools
import operator
import re
import unicodedata

from hypothesis import strategies as st

NAMES = (
    *("p", "q", "r", "_", "_x1", "Rain", "x-y", "a.b.c", "user@site", "a:b", "not-a", "in.2", "TRUE_1"),
    *("été", "Ω1", "дождь", "晴れ", "مطر", "גשם", "वर्षा", "ฝน", "비", "ﬁn", "l·l", "𐐀𐐨"),
    *("\U0001d4b3", "\u1eb9\u0301", "\u0301", "\u200fمطر", "nul\0", "a\nb", " ", "a b", "🌧"),
    *("and", "Given", "in", "true", "at_most", "2nd", "a--b", "winner:", "p & q", "-5"),
    *('rain in "Rome"', "back\\slash", '\\"'),
)
SPELLINGS = {
    "not": ("~", "!", "¬", "not"),
    "and": ("&", "&&", "∧", "and"),
    "xor": ("^", "xor"),
    "or": ("|", "||", "\N{LOGICAL OR}", "or"),
    "implies": ("->", "→", "implies"),
    "iff": ("<->", "↔", "iff"),
}
WORDS = (*SPELLINGS, "given", "in", "true", "false", "exactly", "at_least", "at_most")
TIGHTNESS = {"iff": 0, "implies": 1, "or": 2, "xor": 3, "and": 4, "not": 5}
TRUTH = {
    "group": all,
    "not": lambda truths: not all(truths),
    "and": all,
    "xor": lambda truths: sum(truths) % 2 == 1,
    "or": any,
    "implies": lambda truths: truths[0] <= truths[1],
    "iff": lambda truths: truths.count(False) % 2 == 0,
}
CARDINALITIES = {"exactly": operator.eq, "at_least": operator.ge, "at_most": operator.le}
VALUES = ("a", "1st", "-3", "+2.5", ".5", "-.5", "1e-3", "a@b", "-x", "9:30", "été", '"a b"', '"and"')
QUANTITIES = ("-5", "+2.5", ".5", "-.5", "1e-3", "007", '"1e+3"', '"-1E-2"', "2024-02-29", '"1999-12-31"')
SPACES = (*[""] * 8, *"    \n\t\u00a0\u2003\u2028\u3000\x1c\x85", "\r\n")
FRAGMENTS = (
    *"~!¬&∧^|→↔(){};,=<>+-.@:_\"\\'#%*?/[]0123456789epqEPQ \n\t\0",
    *"\u0301\u0338é\u1100\u1161٣·ºß\u0131\u017f\u212a\u2126\U0001d4b3🌧\U0010ffff中ⅷ℘\uff06≠≤“",
    *"\u200f\u202e\u200d\u200b\ufeff\u00a0\u2028\u0085\u037a",
    *(spelling for spellings in SPELLINGS.values() for spelling in spellings),
    *(word.title() for word in WORDS),
    *("!=", "<=", ">=", '""', '"p"', '\\"', "\\\\", "\\n", " & ", " given ", "exactly(", "(1;", "in {"),
    *("1e-3", "1e+3", "1e999", "2024-02-29", "2023-02-29", "0000-00-00", "999999999", "1000000000"),
)
LAYERS = (("(", ")"), ("~", ""), ("not ", ""), ("p -> ", ""), ("exactly(1; ", ")"), ("w in {a, b} & ~", ""))

MAX_CHARACTERS, MAX_DEPTH, MAX_VARIABLES = 10_000, 64, 16
TREE_DEPTH = 12
TREE_LEVELS = 2 * (TREE_DEPTH + 2)  # a node takes at most two levels: its own and its parentheses


def expression(rng, size, names=NAMES, *, comparisons=0.0):
    """A valid forecast of about `size` atoms; each atom is a comparison with probability `comparisons`."""
    if size > MAX_VARIABLES and len(names) > MAX_VARIABLES and rng.random() < 0.1:
        chosen = rng.sample(names, rng.randint(MAX_VARIABLES + 1, min(size, len(names))))
        event, condition = wide_cardinality(rng, chosen), None
    else:
        chosen = rng.sample(names, rng.randint(1, min(len(names), MAX_VARIABLES)))
        event, condition = formula(rng, size, chosen, comparisons), None
        if rng.random() < 0.25:
            condition = formula(rng, rng.randint(1, 4), chosen, comparisons)
            world = {name: rng.random() < 0.5 for name in chosen}
            condition = condition if holds(condition, world) else ("not", condition)
        if rng.random() < 0.1:
            event = nested(rng, event, rng.randint(1, MAX_DEPTH - TREE_LEVELS - 1))
    text = write(rng, event, condition)
    return text if len(text) <= MAX_CHARACTERS else expression(rng, size // 2, names, comparisons=comparisons)


def formula(rng, size, names, comparisons=0.0, depth=TREE_DEPTH):
    """A formula of about `size` atoms over some of the names."""
    inner = functools.partial(formula, rng, names=names, comparisons=comparisons, depth=depth - 1)
    if rng.random() < 0.25 and depth > 0:
        return (rng.choice(("not", "not", "group")), inner(size))
    if size <= 1:
        if rng.random() < comparisons:
            return comparison(rng)
        return ("constant", rng.random() < 0.5) if rng.random() < 0.05 else ("variable", rng.choice(names))
    kind = rng.choice(("and", "or", "xor", "iff", "implies", *CARDINALITIES))
    if kind == "implies" and depth > 0:
        left = rng.randint(1, size - 1)
        return (kind, inner(left), inner(size - left))
    arguments = [inner(part) for part in (parts(rng, size) if depth > 0 else [1] * size)]
    if kind in CARDINALITIES:
        return (kind, rng.randint(0, len(arguments) + 1), *arguments)
    return ("and" if kind == "implies" else kind, *arguments)


def parts(rng, size):
    """Two or more positive numbers that sum to `size`, itself at least 2."""
    cuts = sorted(rng.sample(range(1, size), rng.randint(1, min(size - 1, 4))))
    return [end - start for start, end in zip([0, *cuts], [*cuts, size], strict=True)]


def nested(rng, event, levels):
    """The event or its negation, inside that many parentheses and negations."""
    for _ in range(levels):
        event = (rng.choice(("not", "group")), event)
    return event


def comparison(rng):
    name = spell_name(rng, rng.choice(NAMES))
    if rng.random() < 0.3:
        values = rng.choices(VALUES, k=rng.randint(1, 4))
        separated = [token for value in values for token in (",", value)][1:]
        return ("comparison", name, spell_word(rng, "in"), "{", *separated, "}")
    if rng.random() < 0.5:
        return ("comparison", name, rng.choice(("=", "!=")), rng.choice(VALUES))
    return ("comparison", name, rng.choice(("<", "<=", ">", ">=")), rng.choice(QUANTITIES))


def wide_cardinality(rng, names):
    """One cardinality of literals, each variable once, perhaps negated: free of the limit on variables."""
    literals = [("variable", name) for name in names]
    literals = [("not", literal) if rng.random() < 0.3 else literal for literal in literals]
    event = (rng.choice(tuple(CARDINALITIES)), rng.randint(0, len(names) + 1), *literals)
    return ("not", event) if rng.random() < 0.3 else event


def holds(event, world):
    """Whether a formula is true in a world, a mapping from every name to its truth; comparisons are false."""
    kind, *arguments = event
    if kind == "variable":
        return world[arguments[0]]
    if kind in ("constant", "comparison"):
        return arguments[0] is True
    if kind in CARDINALITIES:
        count, *events = arguments
        return CARDINALITIES[kind](sum(holds(event, world) for event in events), count)
    return TRUTH[kind]([holds(argument, world) for argument in arguments])


def write(rng, event, condition=None):
    """One of the many texts of a forecast."""
    tokens = spell(rng, event)
    if condition:
        tokens += [spell_word(rng, "given"), *spell(rng, condition)]
    text = rng.choice(SPACES)
    for token in tokens:
        space = rng.choice(SPACES)
        if not space and ("a" + text[-1:]).isidentifier() and ("a" + token[0]).isidentifier():
            space = " "
        text += space + token
    return text + rng.choice(SPACES)


def spell(rng, event, tightness=0):
    """The tokens of an event where only operators of at least this tightness may stand unparenthesised."""
    kind, *arguments = event
    own = TIGHTNESS.get(kind, 6)
    if own < tightness:
        kind, arguments = "group", [event]
    match kind:
        case "variable":
            tokens = [spell_name(rng, arguments[0])]
        case "constant":
            tokens = [spell_word(rng, str(arguments[0]).lower())]
        case "comparison":
            tokens = arguments
        case "group":
            tokens = ["(", *spell(rng, arguments[0]), ")"]
        case "not":
            tokens = [spell_word(rng, kind), *spell(rng, arguments[0], own)]
        case "implies":
            left, right = arguments
            tokens = [*spell(rng, left, own + 1), spell_word(rng, kind), *spell(rng, right, own)]
        case "exactly" | "at_least" | "at_most":
            count, *events = arguments
            digits = str(count).zfill(rng.choice((1, 1, 1, 2, 9)))
            listed = [token for event in events for token in (",", *spell(rng, event))]
            tokens = [spell_word(rng, kind), "(", digits, ";", *listed[1:], ")"]
        case _:
            chain = [[spell_word(rng, kind), *spell(rng, argument, own + 1)] for argument in arguments]
            tokens = [token for link in chain for token in link][1:]
    return tokens


def spell_word(rng, word):
    spelling = rng.choice(SPELLINGS.get(word, (word,)))
    return "".join(rng.choice((c, c, c.upper())) for c in spelling)


def spell_name(rng, name):
    """A name, bare where it may be, composed or not."""
    pieces = re.split("[.@:-]", name)
    bare = pieces[0].isidentifier() and all(("a" + part).isidentifier() for part in pieces)
    bare = bare and "" not in pieces and name.lower() not in WORDS
    spelling = name
    if not bare or rng.random() < 0.2:
        spelling = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return unicodedata.normalize(rng.choice(("NFC", "NFC", "NFD")), spelling)


def mutate(rng, text):
    """A text a small change away: of a character, of a token, or by a splice with another text."""
    pieces = re.findall(r"\w+|\s+|<->|->|[!<>]=|.", text, re.DOTALL) if rng.random() < 0.5 else list(text)
    at = rng.randint(0, len(pieces))
    other = rng.choice(FRAGMENTS)
    match rng.choice(("delete", "insert", "replace", "repeat", "swap", "splice")):
        case "delete":
            del pieces[at : at + 1]
        case "insert":
            pieces.insert(at, other)
        case "replace":
            pieces[at : at + 1] = [other]
        case "repeat":
            pieces[at:at] = pieces[at : at + rng.randint(1, 3)] * rng.randint(1, 3)
        case "swap":
            pieces[at : at + 2] = reversed(pieces[at : at + 2])
        case _:
            donor = expression(rng, rng.randint(1, 6), comparisons=0.2)
            pieces[at:] = donor[rng.randint(0, len(donor)) :]
    return "".join(pieces)


def noise(rng):
    """A text that is seldom valid: fragments at random, runs of one of them, or brackets nested deep."""
    match rng.randint(0, 9):
        case 0:
            return rng.choice(FRAGMENTS) * rng.randint(1, 5_000)
        case 1:
            layers = rng.choices(
                LAYERS[: rng.choice((-1, -1, None))],
                k=rng.choice((rng.randint(1, 130), rng.randint(60, 70), 2_000)),
            )
            closings = [closing for _, closing in reversed(layers)][rng.choice((0, 0, 0, 0, 1)) :]
            return "".join(opening for opening, _ in layers) + "p" + "".join(closings)
        case 2:
            return "".join(rng.choices(FRAGMENTS, k=rng.randint(1_000, 10_000)))[:20_000]
        case _:
            return "".join(rng.choices(FRAGMENTS, k=rng.randint(0, 30)))


@st.composite
def expressions(draw, max_size=30, names=NAMES):
    """Valid forecasts."""
    return expression(draw(st.randoms(use_true_random=False)), draw(st.integers(1, max_size)), names)


def worlds(names):
    """Truth values for the names."""
    return st.fixed_dictionaries({name: st.booleans() for name in names})
