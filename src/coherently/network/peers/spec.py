"""The file that describes a network to be run: which panel, and what its nodes agree on."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from coherently.errors import NetworkError
from coherently.network.protocol.node_plan import Agreement, NetworkCorrection, Schedule

if TYPE_CHECKING:
    from pathlib import Path

    from coherently.panel import Panel

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "text"),
    "Schedule": (str, "word"),
    "NetworkCorrection": (str, "word"),
    "int": (int, "whole number"),
    "float": ((int, float), "number"),
}
"""What the values of lines must be, by the types of fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSpec:
    """A network of a panel's judges: `panel` and `laws` are files, beside the file of the spec if they are relative.

    `sweeps` is how often each group is projected, `patience` the seconds after which a message is sent again, and
    `time_limit` the seconds after which a run on this machine ends, finished or not.
    """

    panel: str
    laws: str = ""
    groups: str = "logical"
    schedule: Schedule = "sequential"
    correction: NetworkCorrection = "none"
    sweeps: int = 10
    patience: float = 0.5
    seed: int = 0
    time_limit: float = 60.0

    @staticmethod
    def read(path: Path) -> tuple[NetworkSpec, Panel]:
        """Read the file of a spec and its panel."""
        from coherently.panel import read_panel

        try:
            told = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise NetworkError(f"{path} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise NetworkError(f"{path} is not TOML: {error}") from None
        _check(told, path)
        spec = NetworkSpec(**told)
        laws = path.parent / spec.laws if spec.laws else None
        return spec, read_panel(path.parent / spec.panel, laws=laws)

    def agreement(self) -> Agreement:
        """What the nodes agree on."""
        return Agreement(
            schedule=self.schedule,
            correction=self.correction,
            sweeps=self.sweeps,
            patience=self.patience,
            seed=self.seed,
        )


def _check(told: dict[str, Any], path: Path) -> None:
    kinds = {field.name: str(field.type) for field in fields(NetworkSpec)}
    for name, value in told.items():
        if name not in kinds:
            raise NetworkError(f"{path}: unknown line {name!r}; known are {', '.join(kinds)}")
        kind, word = _KINDS[kinds[name]]
        if isinstance(value, bool) or not isinstance(value, kind):
            raise NetworkError(f"{path}: {name} is {value!r}; it must be a {word}")
    if "panel" not in told:
        raise NetworkError(f'{path} names no panel: add a line such as panel = "panel.csv"')
    if not 0 < told.get("time_limit", 1) < math.inf:
        raise NetworkError(f"{path}: time_limit is {told['time_limit']}; it must be a number of seconds above 0")
