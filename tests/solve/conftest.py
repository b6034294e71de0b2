"""Tests of the general method, which components of few worlds do not reach by themselves."""

import pytest

from tests.solve.exact_checks import one_by_one


@pytest.fixture(autouse=True)
def _one_by_one():
    with one_by_one():
        yield
