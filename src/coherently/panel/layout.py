"""Which columns of a table play which role: the long and the wide shape."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from coherently.errors import PanelError, Where
from coherently.panel.cell_table import Table
from coherently.panel.columnar.cell_values import HEAVIEST
from coherently.panel.columnar.plans import NAME, SKIP, TEXT, number_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coherently.panel.columnar.plans import Plan

ColumnNames: TypeAlias = "Mapping[str, str | Sequence[str]]"
"""The name or the names of the columns that play each role."""

ROLES = {
    "judge": ("judge", "forecaster", "user", "model", "judge_id"),
    "event": ("event", "question", "event_id"),
    "probability": ("probability", "p", "prob", "forecast", "probability_yes"),
    "weight": ("weight",),
    "lower": ("lower",),
    "upper": ("upper",),
    "outcome": ("outcome", "resolution", "answer"),
    "time": ("time",),
}
"""The accepted names of each role; the first is the standard one."""

QUOTE_PAIRS = (
    ("bid", "ask"),
    ("bid_price", "ask_price"),
    ("best_bid", "best_ask"),
    ("yes_bid", "yes_ask"),
    ("low", "high"),
    ("min", "max"),
    ("minimum", "maximum"),
    ("lower_bound", "upper_bound"),
)
"""Names of two columns that, both together, are read as quotes: the panel's `lower` and `upper`."""

FOREIGN = {
    "event": ("ticker", "market", "market_ticker", "contract", "symbol", "risk", "name", "title"),
    "probability": ("price", "last_price", "yes_price", "mid", "mid_price", "likelihood", "chance"),
}
"""Names of these columns elsewhere. They may mean something else, so they are only suggested, not accepted."""

MARKET_WORDS = re.compile(
    r"(?:.*[ _-])?(?:bid|ask|odds)"
    r"|.*[_-](?:price|size|volume|fees?)|.*(?:bid|ask) (?:price|size|volume)"
    r"|(?:yes|no|last|mid)(?: price)?"
    r"|price|offer|odds|moneyline|spread|size|volume(?:_24h)?|liquidity|open[ _-]interest|fees?"
)
"""Names of columns of a market, in small letters, that are not taken for judges. "Max" alone is somebody's name."""

MARKET_COLUMNS = """\
A column of probabilities or prices is named 'probability'; a bid 'lower', an ask 'upper' (both may be given); \
prices in cents need --percent (percent=True).
The price of 'no' is that of the event ~(...), in a row of its own. Odds of 4 to 1 against are a probability of 0.2. \
Delete sizes, volumes and other columns that are no probabilities."""

FEES = re.compile(r"(?:.*[ _-])?fees?")
"""Names of columns with costs, in small letters."""

SHAPES = """\
A long table has one row per forecast:
  judge,event,probability
  Alice,rain,0.7
  Bob,rain,0.6
A wide table has one row per event, the events in its first column, and one column per judge:
  event,Alice,Bob
  rain,0.7,0.6"""


@dataclass(frozen=True, slots=True)
class Long:
    """One row per forecast; each field is the header of the column that plays the role.

    Without a column of probabilities there is one of lower or upper bounds.
    """

    event: str
    probability: str | None = None
    judge: str | None = None
    weight: str | None = None
    lower: str | None = None
    upper: str | None = None
    outcome: str | None = None
    time: str | None = None
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wide:
    """One row per event, one column per judge, perhaps one for outcomes."""

    event: str
    judges: tuple[str, ...]
    outcome: str | None = None


def recognise(table: Table) -> Long | Wide:
    """Tell the long shape from the wide one by the header."""
    roles = find_roles(table)
    first, *others = table.columns
    pair = {} if {"lower", "upper"} & roles.keys() else _quotes(table)
    if pair and (first == "" or "event" in roles):
        roles = {"event": first, **roles, **pair}
    if "event" in roles and {"probability", "lower", "upper"} & roles.keys():
        played = set(roles.values())
        ignored = tuple(name for name in table.columns if name not in played)
        _check_quotes(table, roles, ignored)
        return Long(**roles, ignored=ignored)
    if first in {"", roles.get("event")} and {first} >= set(roles.values()) and not _is_misspelt_long(others):
        if not others:
            message = f"{table.source} has events but no column for any judge.\n{SHAPES}"
            raise PanelError(message, code="missing-column", where=Where(table.source), remedy=SHAPES)
        _check_judges(table, others)
        return Wide(first, tuple(others))
    raise _unrecognised(table, roles)


def listed_columns(columns: ColumnNames | None) -> dict[str, list[str]]:
    """The names of columns for each role that somebody gave, as lists."""
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise PanelError(f"columns is {columns!r}; it must map roles to names of columns, as in {{'event': 'Risk'}}")
    return {role: [names] if isinstance(names, str) else list(names) for role, names in columns.items()}


def said_layout(table: Table, columns: ColumnNames) -> Long | Wide:
    """The shape of a table with names of its own, by the roles that somebody gave to columns; other names count too."""
    said = listed_columns(columns)
    absent = [name for names in said.values() for name in names if name not in table.columns]
    unknown = [role for role in said if role not in (*ROLES, "ignore")]
    if absent or unknown:
        found = f"no column {absent[0]!r}" if absent else f"no role {unknown[0]!r}"
        raise PanelError(
            f"{table.source} has {found}; its columns are {_listed(table.columns)}, and the roles are "
            f"{', '.join(ROLES)}, ignore",
            code="missing-column",
            where=Where(table.source),
        )
    given = {role: names[0] for role, names in said.items() if role != "ignore"}
    free = [name for name in table.columns if name not in {*given.values(), *said.get("ignore", ())}]
    roles = {**find_roles(Table(table.source, {name: [] for name in free}, range(1))), **given}
    if "event" in roles and {"probability", "lower", "upper"} & roles.keys():
        played = set(roles.values())
        return Long(**roles, ignored=tuple(name for name in table.columns if name not in played))
    if "event" in roles and len(free) > 0:
        return Wide(roles["event"], tuple(name for name in free if name not in roles.values()), roles.get("outcome"))
    raise _unrecognised(table, roles)


def _spelt(header: str) -> str:
    return re.sub("[ -]", "_", header.lower())


def _quotes(table: Table) -> dict[str, str]:
    """Find the one pair of columns that are quotes, by the roles that they play."""
    spelt = {_spelt(header): header for header in table.columns}
    found = [pair for pair in QUOTE_PAIRS if set(pair) <= spelt.keys()]
    if len(found) > 1:
        listed = " and ".join(f"{spelt[low]!r}, {spelt[high]!r}" for low, high in found)
        raise PanelError(
            f"{table.source} has {len(found)} pairs of columns that may be quotes: {listed}. Which are the lower and "
            f"the upper bounds? Rename those two to 'lower' and 'upper', and delete or rename the others.",
            code="unclear-columns",
            where=Where(table.source),
        )
    return {"lower": spelt[found[0][0]], "upper": spelt[found[0][1]]} if found else {}


def is_quoted(layout: Long) -> bool:
    """Whether the bounds were recognised as quotes, under names of their own."""
    return layout.lower is not None and layout.lower.lower() not in ROLES["lower"]


def is_market_word(header: str) -> bool:
    """Whether a column has the name of a price, a size or a cost."""
    return MARKET_WORDS.fullmatch(header.lower()) is not None


def _check_quotes(table: Table, roles: dict[str, str], ignored: Sequence[str]) -> None:
    """Beside quotes, refuse fees, which would change what can be won, and columns that may be judges."""
    if not {"lower", "upper"} <= roles.keys():
        return
    fees = [name for name in ignored if FEES.fullmatch(name.lower())]
    if fees:
        raise PanelError(
            f"{table.source} has quotes and a column {fees[0]!r}, and fees are not read from a table. Should they "
            f"count? Then subtract each fee from its bid and add it to its ask, and delete the column; or delete the "
            f"column, and pass one fee for all to co.dutch_book(panel, fee=...).",
            code="unclear-columns",
            where=Where(table.source, column=fees[0]),
        )
    unknown = [name for name in ignored if name and not is_market_word(name)]
    if unknown and not {"judge", "probability"} & roles.keys() and roles["lower"].lower() not in ROLES["lower"]:
        low, high = roles["lower"], roles["upper"]
        raise PanelError(
            f"{table.source} has columns {low!r} and {high!r}, which look like quotes, beside {_listed(unknown)}. "
            f"What are they?\n"
            f"If {low!r} and {high!r} are quotes, rename them to 'lower' and 'upper'; the other columns are then "
            f"ignored.\n"
            f"If every column belongs to a judge, rename those two, to '{low} (judge)' and '{high} (judge)' for "
            f"example.\n"
            f"If they sum up what the judges say, delete them.",
            code="unclear-columns",
            where=Where(table.source, column=low),
        )


def _check_judges(table: Table, names: Sequence[str]) -> None:
    """Refuse to take columns for judges whose names are those of prices, sizes or costs."""
    doubtful = [name for name in names if is_market_word(name)]
    if not doubtful:
        return
    asked = "is this a judge" if len(doubtful) == 1 else "are these judges"
    raise PanelError(
        f"{table.source}: {_listed(doubtful)} in a table without a column of probabilities: {asked}, or what a market "
        f"says? Nothing is guessed.\n{MARKET_COLUMNS}\n"
        f"If {doubtful[0]!r} is the name of a judge, add to it: '{doubtful[0]} (judge)'.",
        code="unclear-columns",
        where=Where(table.source, column=doubtful[0]),
    )


def plan_columns(header: Sequence[str], *, percent: bool) -> list[Plan]:
    """How to read the columns of a panel, if its shape is known; else as texts, and `recognise` says what is wrong."""
    try:
        layout = recognise(Table("", {name: [] for name in header}, range(1)))
    except PanelError:
        return [TEXT] * len(header)
    share = number_between(0.0, 100.0 if percent else 1.0)
    if isinstance(layout, Wide):
        return [NAME, *[share] * len(layout.judges)]
    kinds = {
        layout.judge: NAME,
        layout.event: NAME,
        layout.probability: share,
        layout.lower: share,
        layout.upper: share,
        layout.weight: number_between(0.0, HEAVIEST),
        layout.time: number_between(-sys.float_info.max, sys.float_info.max),
        layout.outcome: TEXT,
    }
    return [kinds.get(name, SKIP) for name in header]


def find_roles(table: Table) -> dict[str, str]:
    """Map each role that a column plays to the header of that column."""
    roles: dict[str, str] = {}
    for role, names in ROLES.items():
        found = [header for header in table.columns if header.lower() in names]
        if len(found) > 1:
            message = f"{table.source} has {len(found)} {role} columns, {_listed(found)}: rename all but one"
            where = Where(table.source, column=found[1])
            raise PanelError(message, code="repeated-column", where=where, remedy="rename all but one")
        if found:
            roles[role] = found[0]
    return roles


def _is_misspelt_long(headers: list[str]) -> bool:
    return all(_close(headers, [role]) for role in ("judge", "probability"))


def _close(headers: list[str], names: Iterable[str]) -> str | None:
    """Return a header that is nearly one of the names."""
    spelt = {header.lower(): header for header in headers}
    matches = (difflib.get_close_matches(name, spelt, 1, 0.8) for name in names)
    return next((spelt[match[0]] for match in matches if match), None)


def _unrecognised(table: Table, roles: dict[str, str]) -> PanelError:
    """Say which column is missing or misspelt, what was found, and show both shapes."""
    hint = ""
    lines = [f"{table.source} is neither a long nor a wide table; its columns are {_listed(table.columns)}."]
    spare = [header for header in table.columns if header not in roles.values()]
    for role in ("event", "judge", "probability"):
        guess = None if role in roles else _close(spare, ROLES[role])
        if guess or (roles and role not in roles and role != "judge"):
            meant = f" Did you mean {guess!r}? Rename it to {role!r}." if guess else ""
            lines.append(f"There is no {role} column (accepted names: {', '.join(ROLES[role])}).{meant}")
            hint = hint or meant
    lines += _suggested_names(table, roles)
    first, *others = table.columns
    known = [header for header in others if header in roles.values()]
    if known and first in ("", roles.get("event")):
        lines.append(
            f"In a wide table every other column belongs to a judge, so none may be called {_listed(known)}: "
            f"rename such a judge. Pass outcomes of a wide table in a file (--outcomes)."
        )
    missing = next((role for role in ("event", "probability") if role not in roles), None)
    where = Where(table.source, column=missing)
    return PanelError("\n".join([*lines, SHAPES]), code="missing-column", where=where, remedy=hint.strip() or SHAPES)


def _suggested_names(table: Table, roles: dict[str, str]) -> list[str]:
    """Suggest new names for columns that have another trade's names, and the column that may hold the events."""
    spare = {_spelt(header): header for header in table.columns}
    meant = {role: [spare[name] for name in names if name in spare] for role, names in FOREIGN.items()}
    for role, place in (("lower", 0), ("upper", 1)):
        meant[role] = [spare[pair[place]] for pair in QUOTE_PAIRS if pair[place] in spare]
    if meant["lower"] or meant["upper"]:
        meant["probability"] = []  # the last price may lie outside the present bid and ask
    pairs = [f"{found[0]!r} to {role!r}" for role, found in meant.items() if found and role not in roles]
    priced = any(found for role, found in meant.items() if role != "event")
    cents = "; prices in cents need --percent (percent=True)" if priced else ""
    first = next(iter(table.columns))
    lines = [f"Perhaps rename {', '.join(pairs)}{cents}."] if pairs else []
    if first and "event" not in roles and not meant["event"]:
        index = "; if the index does, pass frame.reset_index()" if table.library == "pandas" else ""
        lines.append(f"If the first column, {first!r}, holds the events, rename it to 'event'{index}.")
    return lines


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def pick(table: Table, role: str, names: tuple[str, ...]) -> str:
    """Find the one column of a table that has one of the names."""
    found = [header for header in table.columns if header.lower() in names]
    if len(found) == 1:
        return found[0]
    wrong = f"{len(found)} {role} columns ({_listed(found)})" if found else f"no {role} column"
    remedy = f"name exactly one of them {names[0]!r} (also accepted: {', '.join(names[1:])})"
    raise PanelError(
        f"{table.source} has {wrong} among {_listed(table.columns)}: {remedy}",
        code="repeated-column" if found else "missing-column",
        where=Where(table.source, column=role),
        remedy=remedy,
    )
