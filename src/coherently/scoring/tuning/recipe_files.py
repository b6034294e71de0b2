"""Recipes in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from coherently.errors import MethodError
from coherently.solve import recipe_of

if TYPE_CHECKING:
    import os

    from coherently.solve import Recipe


def read_recipe(file: str | os.PathLike[str]) -> Recipe:
    """Read a recipe from a file that `coherently tune -o` or `recipe.to_json()` has written."""
    path = Path(file)
    try:
        values = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise MethodError(f"{path} does not exist; `coherently tune PANEL -o {path}` writes a recipe") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MethodError(f"{path} cannot be read: {error}") from None
    except json.JSONDecodeError as error:
        raise MethodError(f"{path}, line {error.lineno}: this is not JSON ({error.msg})") from None
    if isinstance(values, dict) and "recipe" in values and isinstance(values["recipe"], dict):
        values = values["recipe"]  # everything that `tune --json` prints
    try:
        return recipe_of(values)
    except MethodError as error:
        raise MethodError(f"{path}: {error}") from None
