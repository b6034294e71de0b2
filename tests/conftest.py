import os
import shutil
import time

import pytest
from hypothesis import settings

# Slow machines are not failures: no test is timed.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """A real browser. Without one the tests that need it are skipped, but never where CI must run them."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = f"none of {', '.join(NAMES)} is installed here; `make browser` installs Debian's as root"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(time, "monotonic", lambda: Clock.now)
    return Clock
