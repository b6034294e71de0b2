"""What a store refuses, and why; each message can be shown to people as it is."""

from __future__ import annotations

from coherently.errors import CoherentlyError


class StoreError(CoherentlyError):
    """The base of every error of the store."""

    code = "store-refused"


class NotFoundError(StoreError):
    """What was asked for is not there, or not any more."""

    code = "not-found"


class ConflictError(StoreError):
    """What was asked does not go together with what stands: a name taken, a closed round, a job that has ended."""

    code = "conflict"


class IdempotencyError(ConflictError):
    """The same key came with another request."""

    code = "key-used"


class NewerStoreError(StoreError):
    """The database was written by a newer version of Coherently."""

    code = "newer-store"


class StoreUnavailableError(StoreError):
    """The disk is full, or the database cannot be reached; what stood before stands."""

    code = "store-unavailable"


class TextError(StoreError):
    """A text has a character that no database keeps."""

    code = "bad-text"


class ArchiveError(StoreError):
    """An archive is damaged, too large, or not an archive of a panel."""

    code = "bad-archive"
