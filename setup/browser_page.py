"""The page that needs no installation, as one HTML file: `python -m setup.browser_page FILE`.

The core is compiled to WebAssembly by the compiler of the package ziglang, file by file. An object is named by what it
was made from, so that only what changed is compiled again. The first time on a machine, the compiler makes its C++
library, too.
"""

import base64
import fcntl
import gzip
import hashlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "build" / "browser"
PARTS = ROOT / "docs" / "browser"
STYLES = ROOT / "src" / "coherently" / "web" / "pages" / "static" / "style.css", PARTS / "page.css"
COMPILER = sys.executable, "-m", "ziglang", "c++", "-target", "wasm32-wasi"
COMPILED = "-O2", "-std=c++20", "-fexceptions", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra"
LINKED = "-mexec-model=reactor", "-O2", "-s", "-Wl,--gc-sections"
FOLDERS = tuple(ROOT / "cpp" / folder for folder in ("include", "src", ""))
INCLUDE = re.compile(r'^#include "(.+)"$', re.MULTILINE)
LANGUAGE = "lexer", "parser", "printer", "quantity", "declarations", "axis"
TABLES = "column", "csv_scanner", "text_file", "text_pool", "utf8"
FUNCTIONS = "boolean_function", "components", "count_function", "evaluate", "event_table", "event_view", "satisfaction"
MIXTURES = "answer_program", "mixture", "nearest"


def sources() -> list[Path]:
    """The files of the core that the page needs, and the page's own."""
    core = ROOT / "cpp" / "src"
    named = {"language": LANGUAGE, "tables": TABLES, "functions": FUNCTIONS, "mixture": MIXTURES}
    named |= {"components": ("model_minimum", "small_mixture"), "linear": ("dense_simplex",)}
    found = [core / room / f"{name}.cpp" for room, names in named.items() for name in names]
    return [*found, *sorted((core / "worlds").rglob("*.cpp")), *sorted((ROOT / "cpp" / "browser").glob("*.cpp"))]


def compiled() -> bytes:
    """The core as WebAssembly, from what was made before as far as nothing changed."""
    with _alone():
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(_object, sources()))
        linked = BUILT / f"{_digest((path.name.encode() for path in objects), *LINKED)}.wasm"
        _made(linked, [*COMPILER, *LINKED, *map(str, objects)])
        for old in set(BUILT.glob("*.[ow]*")) - {linked, *objects}:
            old.unlink()
        return linked.read_bytes()


def _object(source: Path) -> Path:
    """The compiled file."""
    read = (path.read_bytes() for path in [source, *sorted(_included(source))])
    target = BUILT / f"{source.stem}-{_digest(read, *COMPILED)}.o"
    return _made(target, [*COMPILER, *COMPILED, *(f"-I{folder}" for folder in FOLDERS), "-c", str(source)])


def _included(source: Path) -> set[Path]:
    """The headers of the project that a file includes, and those that these include."""
    found, waiting = set[Path](), [source]
    while waiting:
        for name in INCLUDE.findall(waiting.pop().read_text("utf-8")):
            path = next(folder / name for folder in FOLDERS if (folder / name).exists())
            if path not in found:
                found.add(path)
                waiting.append(path)
    return found


def _made(target: Path, command: list[str]) -> Path:
    """Run a compiler unless its output is there; half an output never has the name of a whole one."""
    if not target.exists():
        half = target.with_suffix(".half")
        done = subprocess.run([*command, "-o", str(half)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr or done.stdout}")
        half.replace(target)
    return target


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other process makes the page here."""
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(pieces: Iterable[bytes], *words: str) -> str:
    found = hashlib.sha256(" ".join(words).encode())
    for piece in pieces:
        found.update(hashlib.sha256(piece).digest())
    return found.hexdigest()[:20]


def page(core: bytes) -> str:
    """The page, with everything that it needs inside."""
    script = (PARTS / "page.js").read_text("utf-8")
    style = "".join(path.read_text("utf-8") for path in STYLES)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    parts = {
        "style": style,
        "script": script,
        "style-hash": _source_hash(style),
        "script-hash": _source_hash(script),
        "version": project["version"],
        "core": base64.b64encode(gzip.compress(core, mtime=0)).decode(),
    }
    text = (PARTS / "page.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _source_hash(text: str) -> str:
    """The name of an inline script or style in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(compiled()), "utf-8")
