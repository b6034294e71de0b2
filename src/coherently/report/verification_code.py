"""The few lines of Python with which anybody verifies a result, as the report and the workbench print them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.judge_weights import WEIGHTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CERTIFICATE = "certificate.json"
"""The file in which pages save the record of a result."""
CANONICAL, PROOF = "panel.jsonl", "proof.gz"
"""The files in which the workbench saves the canonical form of a panel, and the proof of a result."""
EXPORTED = "from forecasts import panel"
"""How the panel is had from what the workbench exports as Python, forecasts.py."""
OF_ONE_FILE = ("columns", "sheet", "header", "separator", "encoding")
"""Options that say how one file is read, and nothing of others beside it."""
USUAL: Mapping[str, object] = {
    "laws": None,
    "percent": False,
    "missing": "error",
    "repeats": "keep",
    "plain_events": False,
    **dict.fromkeys(OF_ONE_FILE),
}
"""The options that say what a panel means, with what they are if nobody says otherwise."""


def verifying_code(panel: str = EXPORTED) -> str:
    """The whole code; `panel` are the lines that make the panel.

    >>> print(verifying_code())
    import coherently as co
    from forecasts import panel
    <BLANKLINE>
    result = co.Result.from_json("certificate.json")
    print(co.verify(panel, result))
    """
    return f"""import coherently as co
{panel}

result = co.Result.from_json("{CERTIFICATE}")
print(co.verify(panel, result))"""


def checking_command() -> str:
    """The command by which the checker of proofs reads the files of the workbench.

    >>> checking_command()
    'python -m coherently.proofcheck panel.jsonl certificate.json --proof proof.gz'
    """
    return f"python -m coherently.proofcheck {CANONICAL} {CERTIFICATE} --proof {PROOF}"


def panel_code(
    panel_file: str | os.PathLike[str],
    options: Mapping[str, object],
    *,
    weights: str | os.PathLike[str] | None = None,
    weighting: str | None = None,
    history: str | os.PathLike[str] | None = None,
    judge: str | None = None,
    without: Sequence[str] = (),
    anonymous: bool = False,
) -> str:
    """The lines that read a panel, or that of one judge, leave out parts of it, weight and rename its judges.

    All files are in one folder.

    >>> print(panel_code("data/panel.csv", {"laws": Path("laws.txt"), "percent": True}, history="past.csv"))
    panel = co.read_panel('panel.csv', laws='laws.txt', percent=True)
    panel = co.weighted(panel, co.HistoryWeights(co.read_panel('past.csv', laws='laws.txt', percent=True)))
    """
    lines = [f"panel = {_reading(panel_file, options)}"]
    lines += [] if judge is None else [f"panel = panel.judge({judge!r})"]
    lines += [f"panel = panel.without({', '.join(map(repr, without))})"] if without else []
    parts = [] if weights is None else [repr(file_name(weights))]
    parts += [] if weighting is None else [f"co.{WEIGHTINGS[weighting].__name__}()"]
    beside = {name: value for name, value in options.items() if name not in OF_ONE_FILE}
    parts += [] if history is None else [f"co.HistoryWeights({_reading(history, beside)})"]
    if parts:
        factor = parts[0] if len(parts) == 1 else f"co.ProductWeights(({', '.join(parts)}))"
        lines.append(f"panel = co.weighted(panel, {factor})")
    lines += ["panel = panel.anonymous()"] if anonymous else []
    return "\n".join(lines)


def _reading(file: str | os.PathLike[str], options: Mapping[str, object]) -> str:
    unusual = {name: value for name, value in options.items() if name in USUAL and value != USUAL[name]}
    told = [f"{name}={_value(value)!r}" for name, value in unusual.items()]
    return f"co.read_panel({', '.join([repr(file_name(file)), *told])})"


def _value(value: object) -> object:
    return file_name(value) if isinstance(value, os.PathLike) else value


def file_name(file: str | os.PathLike[str]) -> str:
    """The name of a file; for what came from a pipe, that of a file in which it can be saved."""
    return "panel.csv" if str(file) == "-" else Path(file).name
