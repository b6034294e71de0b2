"""Pages as PDF files, printed by a browser of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.errors import MissingDependencyError, PanelError

if TYPE_CHECKING:
    from collections.abc import Sequence

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
"""The programs that can print, by the name under which they are installed."""
USUAL_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
SECONDS = 120
"""How long a browser may take."""
ENDING = ".pdf"
REMEDY = "install Chromium or Chrome, or write the page with --report FILE.html and print it from any browser"


def find_browser() -> str | None:
    """The path of a browser that can print, or None."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return found or next((place for place in USUAL_PLACES if Path(place).is_file()), None)


def check_pdf_path(path: str | os.PathLike[str]) -> None:
    """Refuse a path that a PDF file cannot be written to, and a machine without a browser, before any work is done."""
    path = Path(path)
    if path.suffix.lower() != ENDING:
        raise PanelError(f"{path} does not have the ending of a PDF file: use {ENDING}")
    if path.is_dir():
        raise PanelError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise PanelError(f"{path.parent} is not a folder: create it first")
    if find_browser() is None:
        raise MissingDependencyError(f"a PDF file is printed by a browser, and none was found: {REMEDY}")


def write_pdf(page: str, path: str | os.PathLike[str]) -> None:
    """Print a page; an existing file is replaced whole or left alone."""
    check_pdf_path(path)
    target = Path(path).resolve()
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, "utf-8", newline="\n")
        _run(_command(source, made, Path(folder, "profile")))
        if not made.is_file() or not made.stat().st_size:
            raise PanelError(f"{path} cannot be written: the browser printed nothing; {REMEDY}")
        try:
            draft = target.with_name(f".{os.getpid()}-{target.name}.tmp")
            shutil.copyfile(made, draft)
            draft.replace(target)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise PanelError(f"{path} cannot be written: {error.strerror or error}") from error


def _command(source: Path, made: Path, profile: Path) -> list[str]:
    """What prints one page: a browser without a window, without network, with a profile that is thrown away."""
    browser = find_browser()
    assert browser is not None
    # Chromium refuses to run as root with its sandbox; the page has no script, and nothing is fetched.
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        browser,
        "--headless",
        *root,
        "--disable-gpu",
        "--disable-extensions",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={profile}",
        "--no-pdf-header-footer",
        f"--print-to-pdf={made}",
        source.as_uri(),
    ]


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise PanelError(f"the browser did not print within {SECONDS} seconds; {REMEDY}") from error
    except OSError as error:
        raise PanelError(f"the browser cannot be started: {error.strerror or error}; {REMEDY}") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise PanelError(f"the browser ended with code {done.returncode} ({' '.join(said)[:200]}); {REMEDY}")
