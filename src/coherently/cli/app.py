"""The commands."""

from __future__ import annotations

from typing import Annotated

import typer

import coherently
from coherently.cli import (
    EXIT_CODES,
    agent_server,
    aggregate,
    bounds,
    check,
    compare,
    convert,
    demo,
    local_network,
    one_node,
    record_schemas,
    relate,
    result_reasons,
    score,
    serve,
    simulate,
    table_preview,
    tune,
    verify,
    watch,
)
from coherently.cli.option_words import WordedCommand

app = typer.Typer(
    name="coherently",
    help="Turn a panel's incoherent forecasts into one coherent set. Start with: coherently demo",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("aggregate", cls=WordedCommand)(aggregate.aggregate)
app.command("check", cls=WordedCommand)(check.check)
app.command("read", cls=WordedCommand)(table_preview.read)
app.command("explain", cls=WordedCommand)(result_reasons.explain)
app.command("bounds", cls=WordedCommand)(bounds.bounds)
app.command("score", cls=WordedCommand, short_help="Score each judge against what came true.")(score.score)
app.command("compare", cls=WordedCommand)(compare.compare)
app.command("tune", cls=WordedCommand)(tune.tune)
app.command("verify", cls=WordedCommand)(verify.verify)
app.command("watch", cls=WordedCommand)(watch.watch)
app.command("relate", cls=WordedCommand)(relate.relate)
app.command("convert", cls=WordedCommand)(convert.convert)
app.command("simulate", cls=WordedCommand)(simulate.simulate)
app.command("schema", cls=WordedCommand)(record_schemas.schema)
app.command("serve", cls=WordedCommand)(serve.serve)
app.command("mcp", cls=WordedCommand)(agent_server.mcp)
app.command("demo", cls=WordedCommand)(demo.demo)
app.command("node", cls=WordedCommand)(one_node.node)
app.add_typer(local_network.network, name="network")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"coherently {coherently.__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""
