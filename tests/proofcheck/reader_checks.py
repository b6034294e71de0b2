"""The checker's own reader of events against the Lark grammar, which shares nothing with it."""

import random

from coherently.proofcheck.check_errors import BadInputError
from coherently.proofcheck.language import read_event
from coherently.proofcheck.truth_functions import TRUE, StateSpace
from tests.events.checks import random_text
from tests.events.oracle import OracleError, read


def check_reader(seed, count):
    """Both readers accept the same texts, and take the same ones for one event; gives how many texts have a meaning."""
    rng = random.Random(seed)
    programs = {}
    for text in [random_text(rng) for _ in range(count)]:
        try:
            meaning = read(text)
        except OracleError as error:
            meaning = None
            if not {"syntax", "limit"} & set(error.kinds):
                continue  # undeclared names, and conditions that are never true, are found later than by the parser
        try:
            found = read_event(text)
        except BadInputError:
            assert meaning is None, f"{text!r} was refused"
            continue
        if any(step[0] == "comparison" for program in found if program for step in program):
            continue  # what a name may be compared with depends on its declaration
        if meaning is not None:
            programs[text] = (meaning, found)
        else:
            assert is_large(text, found), f"{text!r} was accepted"
    space = StateSpace([], [one for _, pair in programs.values() for one in pair if one is not None])
    key_of, meaning_of = {}, {}
    for text, (meaning, (event, condition)) in programs.items():
        key = space.function(event), TRUE
        if condition is not None:
            key = space.function([*event, *condition, ("and",)]), space.function(condition)
        assert key_of.setdefault(meaning, key) == key, f"{text!r} should be an event seen before"
        assert meaning_of.setdefault(key, meaning) == meaning, f"{text!r} is not {key}"
    return len(programs)


def is_large(text, found):
    """Whether a text is only too long, too deep or too wide for the package; the checker has limits of its own."""
    names = {step[1] for program in found if program for step in program if step[0] == "variable"}
    return len(text) > 10_000 or len(names) > 16
