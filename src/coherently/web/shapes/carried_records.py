"""Fields of answers that hold the record of a public value, and their part of the API's schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

if TYPE_CHECKING:
    from coherently.contract.description import Record

MARK, KEPT = "x-coherently-record", "x-coherently-kept"
"""What stands in the schema of a field until `with_records` puts the record's own schema there."""
PLACE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class CarriedRecord:
    """A field that holds a record by this name, as `as_dict` of its value gives it.

    What was `kept` in a store may be of an earlier version, which stays readable.
    """

    name: str
    kept: bool = False

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """The field with a mark: pydantic knows no schemas other than its own."""
        told: dict[str, Any] = handler(schema)
        return told | {MARK: self.name, KEPT: self.kept}


CheckBody = Annotated[dict[str, Any], CarriedRecord("check")]
ResultBody = Annotated[dict[str, Any], CarriedRecord("result")]
InfluenceBody = Annotated[dict[str, Any], CarriedRecord("influence")]
NextQuestionsBody = Annotated[dict[str, Any], CarriedRecord("next-questions")]
WhyBody = Annotated[dict[str, Any], CarriedRecord("why")]
ScoresBody = Annotated[dict[str, Any], CarriedRecord("scores")]
ComparisonBody = Annotated[dict[str, Any], CarriedRecord("comparison")]
TunedRecipeBody = Annotated[dict[str, Any], CarriedRecord("recipe")]
TunedBody = Annotated[dict[str, Any], CarriedRecord("tuned")]
VerificationBody = Annotated[dict[str, Any], CarriedRecord("verification")]
KeptResult = Annotated[dict[str, Any], CarriedRecord("result", kept=True)]
KeptScores = Annotated[dict[str, Any], CarriedRecord("scores", kept=True)]
KeptTuned = Annotated[dict[str, Any], CarriedRecord("tuned", kept=True)]
KeptRecipe = Annotated[dict[str, Any], CarriedRecord("recipe", kept=True)]


def with_records(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an API in which marked fields refer to the published schemas of their records."""
    from coherently.contract.public_records import find_record

    names: set[str] = set()
    filled: dict[str, Any] = _filled(schema, names)
    for name in sorted(names):
        record = find_record(name)
        told = {key: value for key, value in record.schema().items() if key not in ("$schema", "$id")}
        filled["components"]["schemas"][record.format] = told
    return filled


def _filled(part: Any, names: set[str]) -> Any:
    """A part of a schema without marks; the names of records in it are added to `names`."""
    if isinstance(part, list):
        return [_filled(each, names) for each in part]
    if not isinstance(part, dict):
        return part
    if MARK not in part:
        return {key: _filled(each, names) for key, each in part.items()}
    from coherently.contract.public_records import find_record

    names.add(part[MARK])
    told = {key: part[key] for key in ("title", "description") if key in part}
    return told | _referred(find_record(part[MARK]), kept=part[KEPT])


def _referred(record: Record, *, kept: bool) -> dict[str, Any]:
    """A reference to the schema of a record, or any record of an earlier version."""
    current = {"$ref": f"{PLACE}{record.format}"}
    if not kept or record.oldest == record.version:
        return current
    version = {"type": "integer", "minimum": record.oldest, "maximum": record.version - 1}
    head = {"format": {"const": record.format}, "version": version}
    return {"anyOf": [current, {"type": "object", "properties": head, "required": list(head)}]}
