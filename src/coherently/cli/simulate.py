"""`coherently simulate`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from coherently.cli.options import Output, Quiet
from coherently.cli.terminal import say


def simulate(
    judges: Annotated[int, typer.Option(help="Number of judges.")] = 47,
    variables: Annotated[int, typer.Option(help="Number of basic events.")] = 30,
    basic: Annotated[int, typer.Option(help="Basic events that each judge forecasts.")] = 10,
    compound: Annotated[int, typer.Option(help="Compound events that each judge forecasts.")] = 24,
    nested: Annotated[
        bool, typer.Option("--nested", help="Make compound events from the judge's own basic events.")
    ] = (False),
    noise: Annotated[
        tuple[float, float], typer.Option(help="Least and greatest standard deviation of a judge's noise.")
    ] = (
        0.15,
        0.25,
    ),
    bias: Annotated[float, typer.Option(help="Added to every forecast.")] = 0.0,
    conservatism: Annotated[float, typer.Option(help="Share by which forecasts are moved towards 1/2.")] = 0.0,
    rounding: Annotated[float, typer.Option(help="Step to which some judges round; 0 for none.")] = 0.05,
    rounders: Annotated[float, typer.Option(help="Share of the judges who round.")] = 0.5,
    abstention: Annotated[float, typer.Option(help="Chance that a forecast is left out.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same panel.")] = 0,
    output: Output = None,
    quiet: Quiet = False,
) -> None:
    """Draw a random panel with outcomes; without -o it is printed as CSV."""
    from coherently.panel import check_output, write_columns, write_table
    from coherently.simulation import simulate as draw

    if output is not None:
        check_output(output)
    panel = draw(
        judges,
        variables,
        basic=basic,
        compound=compound,
        nested=nested,
        noise=noise,
        bias=bias,
        conservatism=conservatism,
        rounding=rounding,
        rounders=rounders,
        abstention=abstention,
        seed=seed,
    )
    if output is None:
        write_columns(panel.columns(), sys.stdout)
    else:
        write_table(panel.columns(), output)
        say(f"{output}: {panel.summary()}", quiet=quiet)
