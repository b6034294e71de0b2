"""The published schemas, which every record in the tests is held against."""

import json
from functools import cache

import jsonschema

from coherently.contract.schema_files import SCHEMAS

PREFIX = "coherently-"


@cache
def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema)


def records_in(value):
    """The records in plain values that are in no other record, each an object that says its own format."""
    if isinstance(value, dict) and str(value.get("format", "")).startswith(PREFIX):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from records_in(each)


def validated(value):
    """Hold every record in plain values against its published schema; the names of the records are returned."""
    names = []
    for record in records_in(value):
        names.append(record["format"].removeprefix(PREFIX))
        validator(names[-1]).validate(record)
    return names
