"""Checks of the parser on random texts, of any number: tests run a slice, `make campaign` all of it."""

import random

import numpy as np

from coherently.events import Events, tidy
from tests.events import generate
from tests.events.oracle import OracleError, read

BATCH = 500


def random_text(rng):
    """A valid, a mutated or a senseless text."""
    kind = rng.random()
    if kind < 0.2:
        return generate.noise(rng)
    text = generate.expression(rng, rng.randrange(1, 40), comparisons=0.03)
    return text if kind < 0.5 else generate.mutate(rng, text)


def check_agreement(seed, count):
    """The core and the Lark grammar accept the same texts, and take the same ones for one event."""
    rng = random.Random(seed)
    events = Events()
    number_of, reading_of = {}, {}
    accepted = 0
    texts = [random_text(rng) for _ in range(count)]
    reading = events.add(texts)
    faults = {fault.index: fault for fault in reading.faults}
    for index, text in enumerate(texts):
        try:
            expected = read(text)
        except OracleError as error:
            assert index in faults, f"{text!r} was accepted; the grammar says {error.kinds}"
            assert faults[index].kind in error.kinds, f"{text!r}: {faults[index]} but {error.kinds}"
            continue
        assert index not in faults, f"{text!r} was refused: {faults[index]}"
        accepted += 1
        number = tuple(reading.sides[index].tolist())
        assert number_of.setdefault(expected, number) == number, f"{text!r} should be an event seen before"
        assert reading_of.setdefault(number, expected) == expected, f"{text!r} is not the event {number}"
    return accepted


def check_round_trip(seed, count):
    """A printed text parses to the event that it was printed from, and prints as itself."""
    rng = random.Random(seed)
    texts = [generate.expression(rng, rng.randrange(1, 60)) for _ in range(count)]
    printed = [tidy(text) for text in texts]
    events = Events()
    before, after = events.add(texts), events.add(printed)
    assert before.faults == ()
    assert after.faults == ()
    different = np.flatnonzero((before.sides != after.sides).any(axis=1))
    assert not len(different), (texts[different[0]], printed[different[0]])
    assert [tidy(text) for text in printed] == printed


def check_survival(seed, count):
    """Nothing crashes or hangs, and every text is either read or refused with a reason."""
    rng = random.Random(seed)
    done = 0
    while done < count:
        texts = [random_text(rng) for _ in range(min(BATCH, count - done))]
        done += len(texts)
        reading = Events().add(texts)
        refused = [fault.index for fault in reading.faults]
        assert refused == np.flatnonzero(reading.event < 0).tolist()
        assert all(str(fault) for fault in reading.faults)
