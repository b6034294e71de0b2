"""The schema of a database is brought to that of this version; a newer one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from coherently.web.store.store_errors import NewerStoreError, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

FOLDER = Path(__file__).with_name("migrations")


def migrate(connection: Connection, where: str, to: str = "head") -> None:
    """Run what is missing, in the transaction of the connection: all of it or nothing."""
    scripts = ScriptDirectory(str(FOLDER), version_locations=[str(FOLDER)])
    _check_version(connection, scripts, where)

    def upgrade(revision: Any, _: object) -> Any:
        return scripts._upgrade_revs(to, revision)

    with EnvironmentContext(Config(), scripts, fn=upgrade) as environment:
        environment.configure(connection=connection, transactional_ddl=True, version_table="schema_version")
        environment.run_migrations()


def _check_version(connection: Connection, scripts: ScriptDirectory, where: str) -> None:
    known = {script.revision for script in scripts.walk_revisions()}
    context = MigrationContext.configure(connection, opts={"version_table": "schema_version"})
    heads = set(context.get_current_heads())
    if heads - known:
        raise NewerStoreError(
            f"{where} was written by a newer version of Coherently (schema {max(heads)}; this version knows up to "
            f"{max(known)}). Nothing was changed: install that version, or open another store"
        )
    if not heads and (foreign := sorted(inspect(connection).get_table_names())):
        raise StoreError(
            f"{where} has tables of another program ({', '.join(foreign[:3])}). Nothing was changed: name an empty "
            "database"
        )
