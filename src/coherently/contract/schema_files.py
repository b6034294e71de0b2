"""The published schemas, one file per record: `python -m coherently.contract.schema_files` writes them."""

from __future__ import annotations

from pathlib import Path

from coherently.contract.public_records import public_records

SCHEMAS = Path(__file__).parent / "schemas"


def write_schemas(folder: Path = SCHEMAS) -> None:
    """Write the schema of every record, and remove those of records that are no more."""
    folder.mkdir(exist_ok=True)
    texts = {f"{name}.json": record.schema_text() for name, record in public_records().items()}
    for file in folder.glob("*.json"):
        if file.name not in texts:
            file.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    write_schemas()
