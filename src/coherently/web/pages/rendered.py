"""Pages from templates: escaped, with the texts of the catalogue."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from coherently.web.catalogue import text
from coherently.web.pages import figures, formats
from coherently.web.pages.assets import address
from coherently.web.shapes.panel_shapes import PanelDraft


def say(key: str, **values: object) -> Markup:
    """A text of the catalogue for a page: its own marks are kept, the values are escaped."""
    return Markup(text(key, values.get("count"))).format(**values)


@cache
def environment() -> Environment:
    """The templates, with what all of them use."""
    made = Environment(
        loader=PackageLoader("coherently.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(
        t=say, address=address, figures=figures, panel_fields=PanelDraft.model_json_schema()["properties"]
    )
    made.filters.update(
        percent=formats.percent,
        clock=formats.clock,
        moment=formats.moment,
        deadline=formats.deadline,
        day=formats.day,
        between=formats.between,
        change=formats.change,
        score=formats.score,
        sentence=formats.sentence,
    )
    return made


def render(template: str, /, **values: Any) -> str:
    """The text of a page or of a part of it."""
    return environment().get_template(template).render(**values)


def page(template: str, /, status: int = 200, **values: Any) -> HTMLResponse:
    """The answer that shows a page; without a referrer of their own, forms would not say where they come from."""
    return HTMLResponse(render(template, **values), status_code=status, headers={"Referrer-Policy": "same-origin"})
