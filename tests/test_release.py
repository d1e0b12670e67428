"""What a release needs beside the wheel: pinned workflows, the recipe for conda, the table of labels, the paper."""

import json
import re
import tomllib
from pathlib import Path

import label_hashes
import pytest

import evencut

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
if not WORKFLOWS:
    pytest.skip("the files of a release are not part of this copy of the project", allow_module_level=True)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_of_a_workflow_is_pinned_by_its_commit(workflow):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    text = workflow.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"]["contents"] == "read"
    for action in re.findall(r"uses: (.*)", text):
        assert re.fullmatch(r"[\w-]+(/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_one_action_has_one_commit_in_all_workflows():
    used = {use for path in WORKFLOWS for use in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))}
    # Those of CodeQL are two actions of one repository.
    assert len({use.split("@")[0] for use in used}) == len(used)


def test_the_programs_of_workflows_are_pinned_and_raised_by_pull_requests():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    lines = (ROOT / ".github" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in lines if not line.startswith("#"))
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert {update["package-ecosystem"] for update in updates} == {"github-actions", "pip"}


def test_the_recipe_has_the_version_and_the_requirements_of_the_project():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["context"]["version"] == evencut.__version__
    run = {one.replace(" ", "") for one in recipe["requirements"]["run"]}
    assert run == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert {one.lower() for one in build} <= {one.replace(" ", "") for one in recipe["requirements"]["host"]}
    assert recipe["about"]["license"] == PROJECT["license"]
    for name in recipe["tests"][1]["files"]["source"]:
        assert (ROOT / name).exists()


def test_the_recipe_is_one_to_the_program_that_builds_it():
    rattler = pytest.importorskip("rattler_build", reason="py-rattler-build is not installed")
    recipe = rattler.Stage0Recipe.from_file(str(ROOT / "conda" / "recipe.yaml"))
    variants = {"python": ["3.13.*"], "c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"]}
    (made,) = recipe.render(rattler.VariantConfig(variants))
    assert str(made.recipe.package.version) == evencut.__version__


def test_labels_are_those_of_the_table():
    expected = json.loads(label_hashes.TABLE.read_text(encoding="utf-8"))
    found = {name: label_hashes.hash_of(labels) for name, labels in label_hashes.fits()}
    assert found == expected, "if labels were meant to change: python tests/label_hashes.py --write"
    assert len(found) >= 9


def test_a_fit_with_other_labels_fails_the_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(label_hashes, "fits", lambda: iter([("one", [0, 1]), ("two", [0, 0])]))
    monkeypatch.setattr(label_hashes, "TABLE", tmp_path / "table.json")
    assert label_hashes.main(["--write"]) == 0
    assert label_hashes.main([]) == 0
    monkeypatch.setattr(label_hashes, "fits", lambda: iter([("one", [0, 1]), ("two", [1, 0])]))
    assert label_hashes.main([]) == 1
    assert "OTHER LABELS  two" in capsys.readouterr().out


def test_the_date_of_the_release_is_the_same_everywhere():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split(f"## {evencut.__version__}\n")[1]
    (date,) = re.findall(r"^date-released: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert f"Released on {date}." in changes[:200]


def test_the_paper_of_joss_has_its_parts_its_references_and_its_length():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    _, header, body = text.split("---\n", 2)
    fields = ("title", "tags", "authors", "affiliations", "date", "bibliography")
    assert all(f"\n{field}:" in f"\n{header}" for field in fields)
    headings = re.findall(r"^# (.*)$", body, re.M)
    assert {"Summary", "Statement of need", "State of the field", "References"} <= set(headings)
    assert 750 <= len(body.split()) <= 1750
    entries = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"@(\w+)", body)) == entries
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", body, re.S):
        assert (ROOT / "paper" / picture).exists()
