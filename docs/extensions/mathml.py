"""Formulas as MathML, which browsers draw by themselves: no script, no network, and a screen reader can say them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html import HTMLTranslator

FORMULA = re.compile(r"^([ ]*)\$\$(.*?)\$\$", re.DOTALL | re.MULTILINE)

INLINE = re.compile(r"(?<![\w`$\\])\$(?! )([^$\n]+?)(?<! )\$(?![\w$])")


def mark_formulas(_app: Sphinx, _what: str, _name: str, _thing: object, _options: object, lines: list[str]) -> None:
    """Turn `$$...$$` and `$...$` of a docstring into what Sphinx takes for formulas."""
    marked = FORMULA.sub(_directive, "\n".join(lines))
    lines[:] = INLINE.sub(r":math:`\1`", marked).split("\n")


def _directive(found: re.Match[str]) -> str:
    indent, formula = found[1], " ".join(found[2].split())
    return f"{indent}.. math::\n\n{indent}   {formula}\n"


def _inline(writer: HTMLTranslator, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTMLTranslator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("autodoc-process-docstring", mark_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
