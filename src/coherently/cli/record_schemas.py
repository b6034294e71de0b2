"""`coherently schema`."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="A record, such as result or check.")
    ] = None,
    tools: Annotated[
        bool, typer.Option("--tools", help="Print the tools for agents, as OpenAI-style function tools.")
    ] = False,
) -> None:
    """Print the JSON Schema of a record that --json prints and from_json reads; without a name, list the records."""
    if tools:
        import json

        from coherently.agents.tool_list import tool_schemas

        print(json.dumps(tool_schemas(), indent=2, ensure_ascii=False))
        return
    from coherently.contract.public_records import find_record, public_records

    if name is not None:
        print(find_record(name).schema_text(), end="")
        return
    records = public_records().values()
    width = max(len(record.name) for record in records)
    for record in records:
        print(f"{record.name:{width}}  {record.meaning}")
