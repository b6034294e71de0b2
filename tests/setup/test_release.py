"""What a release says of itself agrees everywhere: versions, dependencies, the length of the first page."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import coherently as co

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def first(pattern, file):
    return re.search(pattern, (ROOT / file).read_text("utf-8"), re.MULTILINE)[1]


def test_every_place_has_the_version_of_the_project():
    version = PROJECT["version"]
    assert co.__version__ == version
    assert first(r"^version: (\S+)$", "CITATION.cff") == version
    assert first(r'^{% set version = "(.+?)" %}$', "deploy/conda/meta.yaml") == version


def test_a_tag_has_the_version_and_the_changelog_a_section_for_it():
    asked = subprocess.run(["git", "tag", "--points-at", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    for tag in asked.stdout.split():
        assert tag == f"v{PROJECT['version']}"
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert sections[0] in ("Unreleased", PROJECT["version"])
    assert len(set(sections)) == len(sections)


def test_the_recipe_of_conda_needs_what_the_project_needs():
    recipe = (ROOT / "deploy" / "conda" / "meta.yaml").read_text("utf-8")
    needs = re.findall(r"^    - (\S+ >=\S+)$", recipe[recipe.index("  run:") : recipe.index("test:")], re.MULTILINE)
    expected = [
        f"python {PROJECT['requires-python']}",
        *(each.replace(">=", " >=") for each in PROJECT["dependencies"]),
    ]
    assert needs == expected


def test_the_oldest_versions_are_those_of_the_project():
    done = subprocess.run([sys.executable, "-m", "setup.oldest"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert {each.replace(">=", "==") for each in PROJECT["dependencies"]} <= set(lines)
    assert len({line.partition("==")[0] for line in lines}) == len(lines)


def test_the_readme_is_read_in_five_minutes():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_workflows_run_what_is_run_here():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert "bash .ci/run" in workflow
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"
