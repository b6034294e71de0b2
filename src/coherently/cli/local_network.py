"""`coherently network`."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from coherently.cli.options import AsJson, Output, Quiet
from coherently.cli.terminal import progress_bar, say, show, show_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coherently.network.network import Network
    from coherently.network.peers.spec import NetworkSpec

network = typer.Typer(no_args_is_help=True, help="Networks of nodes that make forecasts coherent by messages.")
SpecFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SPEC", show_default=False, help="The network, in TOML: panel, schedule, sweeps ...")
]
Folder: TypeAlias = Annotated[
    Path | None, typer.Option("--folder", metavar="FOLDER", help="Keep states and logs here, to go on after a stop.")
]


@network.command("run")
def run(
    spec_file: SpecFile, folder: Folder = None, output: Output = None, as_json: AsJson = False, quiet: Quiet = False
) -> None:
    """Start one process per judge on this machine, and compare their answer with the central one."""
    from coherently.network.local_report import report_run
    from coherently.network.peers.local_run import run_here
    from coherently.panel import check_output, write_table

    if output is not None:
        check_output(output)
    spec, made = _read(spec_file)
    agreement = spec.agreement()
    with _folder(folder) as kept, progress_bar("Fusing", quiet=quiet) as progress:
        outcome = run_here(made, agreement, kept, time_limit=spec.time_limit, progress=progress)
    result, report = report_run(made, agreement, outcome)
    if output is not None:
        write_table(result.columns(), output)
    if as_json:
        show_record(report)
        return
    if output is None:
        from coherently.report import forecasts_table

        show(forecasts_table(result))
    if not quiet:
        show(report.sentence())


@network.command("plan")
def plan(
    spec_file: SpecFile,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="The folder to write to.")],
    quiet: Quiet = False,
) -> None:
    """Write the files with which nodes elsewhere start: one per node, and a new shared key."""
    from coherently.errors import NetworkError
    from coherently.network.peers.keys import write_key
    from coherently.network.peers.node_files import node_files, write_files

    spec, made = _read(spec_file)
    key = output / "network.key"
    try:
        output.mkdir(parents=True, exist_ok=True)
        paths = write_files(node_files(made, spec.agreement()), output)
        if not key.exists():
            write_key(key)
    except OSError as error:
        raise NetworkError(f"{output} cannot be written: {error.strerror}") from None
    for name, path in zip(made.panel.judges, paths, strict=True):
        print(f"{path}  {name}", flush=True)
    say(f"Give each node its own file and {key.name}, which nobody else may see.", quiet=quiet)


def _read(spec_file: Path) -> tuple[NetworkSpec, Network]:
    from coherently.network.network import Network
    from coherently.network.peers.spec import NetworkSpec

    spec, panel = NetworkSpec.read(spec_file)
    return spec, Network.from_panel(panel, groups=spec.groups)


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is None:
        with tempfile.TemporaryDirectory(prefix="coherently-network-") as made:
            yield Path(made)
    else:
        given.mkdir(parents=True, exist_ok=True)
        yield given
