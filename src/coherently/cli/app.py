"""The commands."""

from __future__ import annotations

from typing import Annotated

import typer

import coherently
from coherently.cli import (
    EXIT_CODES,
    aggregate,
    bounds,
    check,
    compare,
    convert,
    demo,
    local_network,
    one_node,
    record_schemas,
    score,
    serve,
    simulate,
    tune,
    verify,
)

app = typer.Typer(
    name="coherently",
    help="Turn a panel's incoherent forecasts into one coherent set. Start with: coherently demo",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("aggregate")(aggregate.aggregate)
app.command("check")(check.check)
app.command("bounds")(bounds.bounds)
app.command("score")(score.score)
app.command("compare")(compare.compare)
app.command("tune")(tune.tune)
app.command("verify")(verify.verify)
app.command("convert")(convert.convert)
app.command("simulate")(simulate.simulate)
app.command("schema")(record_schemas.schema)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("node")(one_node.node)
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
