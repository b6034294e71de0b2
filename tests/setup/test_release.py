"""What a release says of itself agrees everywhere: versions, dependencies, the length of the first page."""

import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import coherently as co
from setup.oldest import TOOLS

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


def test_what_users_install_is_held_at_its_oldest_and_tools_at_most_at_the_tested_versions():
    done = subprocess.run([sys.executable, "-m", "setup.oldest"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [re.fullmatch(r"(\S+?)(==|<=)(\S+)", line).groups() for line in done.stdout.splitlines()]
    assert len({name for name, _, _ in lines}) == len(lines)
    extras = {name: needs for name, needs in PROJECT["optional-dependencies"].items() if name not in TOOLS}
    assert extras.keys() == {"agents", "cluster", "parquet", "report", "web", "zstd"}
    held = {name: version for name, sign, version in lines if sign == "=="}
    for need in {*PROJECT["dependencies"], *chain(*extras.values())} - {"coherently[report]"}:
        name, version = re.match(r"([\w-]+)(?:\[\w+\])?>=([\w.]+)", need).groups()
        assert held.pop(name) == version
    assert not held
    tested = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "constraints.txt").read_text("utf-8"), re.MULTILINE))
    assert all(tested[name] == version for name, sign, version in lines if sign == "<=")


def test_the_readme_is_read_in_five_minutes():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 150


def test_workflows_run_what_is_run_here():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert "bash .ci/run" in workflow
    assert "make oldest" in workflow
    assert (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1] == "make test"
