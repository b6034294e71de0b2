"""Work in a process of its own: who waits, who comes back for what it found, and who hears of errors."""

import time
from pathlib import Path

import pytest

from coherently.web.jobs.calculator import KEPT, Calculator
from coherently.web.refusals import RefusedError
from coherently.web.settings import ServiceLimits

PATIENCE = 120.0


@pytest.fixture(scope="module")
def calculator():
    made = Calculator(ServiceLimits(calls=8))
    yield made
    made.close()


def once_there(path, _seconds):
    """The text of a file, as soon as it is there, and how often this was asked."""
    counted = Path(path).with_suffix(".count")
    counted.write_text(counted.read_text() + "|" if counted.exists() else "|")
    while not Path(path).exists():
        time.sleep(0.01)
    return Path(path).read_text(), len(counted.read_text())


def refuse(_seconds):
    raise RefusedError(422, "not-usable", "It cannot be done.")


def same(value, _seconds):
    return value


def fetch(calculator, key, *work):
    """Ask again and again, without waiting."""
    for _ in range(int(PATIENCE / 0.05)):
        found = calculator.ask(key, 0.0, *work)
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError(key)


def test_who_does_not_wait_gets_nothing_yet_and_the_same_work_later(calculator, tmp_path):
    path = tmp_path / "file"
    for _ in range(3):
        assert calculator.ask("one", 0.0, once_there, str(path)) is None
    path.write_text("there")
    assert fetch(calculator, "one", once_there, str(path)) == ("there", 1)


def test_an_error_is_raised_to_whoever_asks_next_and_is_then_forgotten(calculator):
    with pytest.raises(RefusedError, match="cannot be done"):
        fetch(calculator, "error", refuse)
    assert fetch(calculator, "error", same, 7) == 7


def test_what_nobody_fetches_is_not_kept_for_ever(calculator):
    for number in range(KEPT + 20):
        assert calculator.ask(("left", number), 0.0, same, number) in (None, number)
        fetch(calculator, ("fetched", number), same, number)
    assert len(calculator._asked) <= KEPT + calculator.limits.calls
