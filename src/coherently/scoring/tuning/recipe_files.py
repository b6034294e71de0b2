"""Recipes in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from coherently.errors import MethodError
from coherently.solve import Recipe

if TYPE_CHECKING:
    import os


def read_recipe(file: str | os.PathLike[str]) -> Recipe:
    """Read a recipe from a `file` that `coherently tune -o` or `recipe.to_json()` has written.

    >>> import tempfile
    >>> import coherently as co
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "recipe.json")
    ...     _ = path.write_text(co.Recipe("log", exponent=1.5).to_json(), "utf-8")
    ...     co.read_recipe(path).exponent
    1.5
    """
    path = Path(file)
    if not path.exists():
        raise MethodError(f"{path} does not exist; `coherently tune PANEL -o {path}` writes a recipe")
    try:
        return Recipe.from_json(path)
    except MethodError as error:
        if str(error).startswith(str(path)):
            raise
        raise MethodError(f"{path}: {error}") from None
