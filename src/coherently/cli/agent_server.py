"""`coherently mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coherently.cli.terminal import say

PORT = 8421
"""The port that is used unless another is given."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def mcp(
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over streamable HTTP instead of standard streams.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on with --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on with --http.", min=1, max=65535)] = PORT,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A further host name under which it is reached; may be repeated.")
    ] = None,
    laws: Annotated[Path | None, typer.Option(help="A file of laws that hold in every call.")] = None,
    time_limit: Annotated[
        float, typer.Option(help="Maximum number of seconds for one call.", min=0.1, max=60.0)
    ] = 60.0,
) -> None:
    """Serve tools for agents over the Model Context Protocol: check, repair, bounds, relate, book, verify, ask_next."""
    from coherently.agents.mcp_server import serve_http, serve_stdio
    from coherently.agents.toolbox import Toolbox
    from coherently.errors import MethodError

    if http and host not in LOOPBACK and not allow_host:
        raise MethodError(
            f"{host} is reached by other machines, and nobody has to log in: name the host with --allow-host, and put "
            "a proxy before it that lets in only whom you trust",
            code="open-host",
        )
    tools = Toolbox(() if laws is None else _statements(laws), time_limit)
    if http:
        serve_http(tools, host, port, tuple(allow_host or ()), announce=say)
    else:
        serve_stdio(tools)


def _statements(laws: Path) -> list[str]:
    """The laws of a file, which are tried, so that a mistake is told now and not with every call."""
    from coherently.events import Events
    from coherently.panel import read_laws
    from coherently.panel.statements import split_statements

    read_laws(laws, Events())
    return [statement.text for statement in split_statements(laws)]
