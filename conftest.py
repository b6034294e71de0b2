"""What no test or page may leave behind for the next one."""

import asyncio
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def own_world(request: pytest.FixtureRequest) -> Iterator[None]:
    """An event loop of its own, and no open pictures.

    The browser of other tests keeps an event loop in this thread between its calls. Tests that do not use the browser
    do not see it, so that what they await runs as it does in a program.
    """
    loop = asyncio._get_running_loop()
    hidden = loop is not None and "chromium" not in request.fixturenames
    if hidden:
        asyncio._set_running_loop(None)
    yield
    if hidden:
        asyncio._set_running_loop(loop)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
