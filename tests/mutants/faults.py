"""Deliberate faults: one line of the sources each, with the tests that must notice it. They stand in faults.toml."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("faults.toml")


@dataclass(frozen=True, slots=True)
class Fault:
    """In `file`, the only place with the text `find` gets `replace` instead; `breaks` says what is wrong then."""

    name: str
    file: str
    find: str
    replace: str
    breaks: str
    tests: tuple[str, ...]

    def apply(self, text: str) -> str:
        """The faulty text of the file."""
        return text.replace(self.find, self.replace)

    def complaint(self, root: Path = ROOT) -> str | None:
        """Why the entry cannot be applied any more, if so."""
        path = root / self.file
        if not path.is_file():
            return f"there is no file {self.file}"
        count = path.read_text("utf-8").count(self.find)
        if count != 1:
            return f"{self.file} has {count} places with the text {self.find!r}; give a text that occurs once"
        if self.find == self.replace or not self.find.strip():
            return "the replacement changes nothing"
        missing = [test for test in self.tests if not (root / test.split("::")[0]).is_file()]
        if missing or not self.tests:
            return f"there is no test {', '.join(missing)}" if missing else "it names no tests"
        return None


def read_faults(path: Path = LIST) -> list[Fault]:
    """All faults, in the order of the list."""
    entries = tomllib.loads(path.read_text("utf-8"))["fault"]
    faults = [Fault(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]
    names = [fault.name for fault in faults]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"faults.toml has more than one fault of the name {', '.join(repeated)}")
    return faults
