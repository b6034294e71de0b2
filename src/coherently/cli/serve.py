"""`coherently serve`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.terminal import say
from coherently.errors import MissingDependencyError, PanelError

NEEDED = ("argon2", "fastapi", "jinja2", "prometheus_client", "python_multipart", "sqlalchemy", "uvicorn")
"""Packages of the extra `web`."""
PORT = 8420
"""The port that is used unless another is given."""
SHORTEST = 8
"""Minimum number of characters of a password."""


def serve(
    *,
    demo: Annotated[
        bool, typer.Option("--demo", help="Open on a worked panel, in a store that is thrown away.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on; other machines need an account.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = PORT,
    store: Annotated[
        str | None,
        typer.Option(
            envvar="COHERENTLY_STORE", help="A file, or postgresql://...; by default a file in your data folder."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that aggregate.", min=1, max=64)] = 1,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further host name under which it is reached; may be repeated.")
    ] = None,
    proxy: Annotated[
        list[str] | None, typer.Option(help="Address of a reverse proxy whose X-Forwarded-* headers are believed.")
    ] = None,
    trust_remote_user: Annotated[
        bool, typer.Option("--trust-remote-user", help="Believe the header Remote-User of the proxy.")
    ] = False,
    address: Annotated[
        str | None, typer.Option(help="Address under which others reach it, such as https://panel.example.org.")
    ] = None,
    mail: Annotated[
        str | None,
        typer.Option(
            envvar="COHERENTLY_MAIL", help="Mail server, smtps://USER@HOST; its password: COHERENTLY_MAIL_PASSWORD."
        ),
    ] = None,
    mail_from: Annotated[str, typer.Option(envvar="COHERENTLY_MAIL_FROM", help="Sender of mail.")] = "",
    add_account: Annotated[
        str | None, typer.Option(metavar="NAME", help="Add an account, ask for its password, and end.")
    ] = None,
    backup: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a copy of the store while it is used, and end.")
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Put a backup in place of the store, also while it is used, and end."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write no log.")] = False,
) -> None:
    """Serve the workbench: questions, answers and aggregates in the browser and over REST."""
    _check_installed()
    from coherently.web.server import add_account as add
    from coherently.web.server import back_up
    from coherently.web.server import restore as restore_backup
    from coherently.web.server import serve as run
    from coherently.web.settings import LOOPBACK, ServiceSettings, read_address, read_mail
    from coherently.web.store import default_url

    settings = ServiceSettings(
        store_url=store or ("" if demo else default_url()),
        host=host,
        port=port,
        workers=workers,
        allow_hosts=tuple(allow_host or ()),
        proxies=tuple(proxy or (LOOPBACK[:2] if trust_remote_user else ())),
        trust_remote_user=trust_remote_user,
        demo=demo,
        log_requests=not quiet,
        address=read_address(address) if address else "",
        mail=read_mail(mail, mail_from, os.environ.get("COHERENTLY_MAIL_PASSWORD", "")) if mail else None,
    )
    if add_account is not None:
        add(settings, add_account, _ask_password())
        say(f"The account {add_account!r} was added; log in with its name and password.")
        return
    if backup is not None:
        back_up(settings, backup)
        say(f"{backup}: copy of the store written")
        return
    if restore is not None:
        kept = restore_backup(settings, restore)
        say(f"{restore}: restored" + (f"; what was there before is in {kept}" if kept else ""))
        return
    run(settings, announce=say, open_browser=open_browser)


def _check_installed() -> None:
    if not all(map(find_spec, NEEDED)):
        raise MissingDependencyError('the workbench needs further packages: pip install "coherently[web]"')


def _ask_password() -> str:
    """Ask twice on a terminal; else take the first line of the standard input, or COHERENTLY_PASSWORD."""
    import getpass

    if sys.stdin is not None and sys.stdin.isatty():
        given = getpass.getpass("Password: ")
        if getpass.getpass("Again: ") != given:
            raise PanelError("the two passwords differ; nothing was added")
    else:
        given = os.environ.get("COHERENTLY_PASSWORD") or (sys.stdin.readline().rstrip("\n") if sys.stdin else "")
    if len(given) < SHORTEST:
        raise PanelError(f"a password needs at least {SHORTEST} characters; nothing was added")
    return given
