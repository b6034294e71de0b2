"""How large things may be that people send; every refusal names the limit."""

from __future__ import annotations

EVENT = 10_000
"""Maximum number of characters of an event."""
STATEMENT = 20_000
"""Maximum number of characters of a law or a declaration."""
TITLE = 300
"""Maximum number of characters of a title or a name."""
SHORT = 40
"""Maximum number of characters of a short text, such as a tag."""
NOTE = 5_000
"""Maximum number of characters of a definition, a reason or a comment."""
ROWS = 10_000
"""Maximum number of forecasts in one request, and of rows in a file to import."""
COLUMNS = 3_000
"""Maximum number of columns of a file to import: a number, a reason and a size of each judge that a panel may have."""
LAWS = 2_000
"""Maximum number of laws in one request."""
EVENTS_OF_QUESTION = 100
"""Maximum number of events of one partition or ladder."""
PAGE = 1_000
"""Maximum number of records in one answer."""
SECONDS = 3_600.0
"""Maximum time limit of an aggregation, in seconds."""
