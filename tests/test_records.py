"""What was measured is kept as records, and pages say what these say."""

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this copy of the project", allow_module_level=True)
sys.path.insert(0, str(ROOT))
from benchmarks import records  # noqa: E402
from benchmarks.__main__ import BENCHMARKS, main  # noqa: E402
from evencut import __version__  # noqa: E402

TEXT = "# Title\n\nWords before.\n\n| a | b |\n|---|---|\n| 1 | two words |\n| | 3 |\n\nWords after.\n"


@pytest.fixture(autouse=True)
def findings(request, monkeypatch):
    """A page of a test has a finding, too."""
    if "tmp_path" in request.fixturenames:
        monkeypatch.setattr(records, "read_findings", lambda: {"some": "What follows."})


def test_a_record_holds_rows_and_where_they_come_from_and_the_page_is_drawn_from_it(tmp_path):
    page = records.publish("some", {"one": TEXT, "two": "## More\n\n| c |\n|---|\n| 4 |\n"}, folder=tmp_path)
    assert page.splitlines()[2] == "**What follows.**"
    record = json.loads((tmp_path / "records" / "some.json").read_text(encoding="utf-8"))
    one = record["sections"]["one"]
    assert record["title"] == "Title"
    assert {"version", "commit", "date", "cpu", "cores", "rows"} <= set(one)
    assert one["rows"][1] == {"columns": ["a", "b"], "rows": [["1", "two words"], ["", "3"]]}
    assert page == (tmp_path / "SOME.md").read_text(encoding="utf-8") == records.draw(record)
    for line in [*TEXT.splitlines(), "## More", "| 4 |"]:
        assert line.replace("| |", "|  |") in page
    assert page.count("*Measured with evencut") == 1


def test_a_long_table_is_written_to_a_file_and_the_site_shows_it(tmp_path, monkeypatch):
    table = "| a | b |\n|---|---|\n| 1 | two, words |\n"
    (tmp_path / "records").mkdir()
    page = records.publish("some", {"one": f"Before.\n\n<!-- in records/some.csv -->\n{table}"}, folder=tmp_path)
    assert "[Table of 1 rows](records/some.csv)" in page
    assert "two, words" not in page
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    with_tables = runpy.run_path(str(ROOT / "docs" / "_ext" / "measured_pages.py"))["with_tables"]
    assert table.replace("|---|---|", "| --- | --- |") in with_tables(page, tmp_path)


def test_every_page_begins_with_what_follows_from_it():
    findings = records.read_findings()
    assert sorted(findings) == records.page_names()
    for name, follows in findings.items():
        page = (records.HERE / f"{name.upper()}.md").read_text(encoding="utf-8")
        assert page.splitlines()[2] == f"**{follows}**", f"the page of {name} is older than findings.toml"
        assert len(follows.split()) <= 40


def test_sections_that_were_not_measured_keep_their_stamp(tmp_path, monkeypatch):
    records.publish("some", {"one": TEXT, "two": "old"}, folder=tmp_path)
    monkeypatch.setattr(records, "__version__", "9.9")
    page = records.publish("some", {"two": "new"}, folder=tmp_path)
    assert "old" not in page
    assert page.count("*Measured with evencut") == 2


def test_a_long_run_keeps_the_stamp_of_its_start(tmp_path, monkeypatch):
    began = records.stamp()
    monkeypatch.setattr(records, "_commit", lambda: "later")
    records.publish("some", {"one": TEXT}, folder=tmp_path, measured=began)
    record = json.loads((tmp_path / "records" / "some.json").read_text(encoding="utf-8"))
    assert record["sections"]["one"]["commit"] == began["commit"] != "later"


def test_nothing_in_a_stamp_names_a_machine_or_a_folder():
    assert str(ROOT) not in json.dumps(records.stamp())
    assert set(records.stamp()) == {"version", "commit", "date", "cpu", "cores", "python"}


def test_unknown_benchmarks_are_named():
    with pytest.raises(SystemExit, match=r"usage: .*leaderboard"):
        main(["no-such"])
    for name in BENCHMARKS:
        assert (ROOT / "benchmarks" / f"{name}.py").exists()


# ---- no page is of an earlier version, except those of a list


def test_a_record_is_of_an_earlier_version_by_its_minor_version_and_where_no_commit_holds_its_code():
    for version, commit, earlier in (
        *(("0.2.9", "abc", True), ("0.3.0.dev0", "abc", False), ("0.3.1", "abc", False)),
        ("0.3.1", "abc-dirty", True),
    ):
        sections = {"new": {"version": "0.3.0", "commit": "abc"}, "one": {"version": version, "commit": commit}}
        assert records.is_earlier({"sections": sections}, "0.3.0") is earlier


def test_measuring_a_page_again_takes_it_off_the_list(tmp_path, monkeypatch):
    listed = tmp_path / "earlier.toml"
    listed.write_text('# Why.\none = "no device"\nother = "hours"\n', encoding="utf-8")
    monkeypatch.setattr(records, "_EARLIER", listed)
    new, old = ({"version": version, "commit": "abc"} for version in (__version__, "0.1.0"))
    records._forget_earlier("one", {"sections": {"a": new, "b": old}})
    assert list(records.read_earlier()) == ["one", "other"]
    records._forget_earlier("one", {"sections": {"a": new}})
    assert listed.read_text(encoding="utf-8") == '# Why.\nother = "hours"\n'


@pytest.mark.parametrize("name", records.page_names())
def test_a_page_is_drawn_from_a_record_of_this_version_unless_the_list_says_why_not(name):
    page = (records.HERE / f"{name.upper()}.md").read_text(encoding="utf-8")
    record = records.read_record(name)
    assert page == records.draw(record), f"the page of {name} is not its record's: python -m benchmarks {name}"
    earlier = records.read_earlier()
    assert records.is_earlier(record) == (name in earlier), f"python -m benchmarks {name}; benchmarks/earlier.toml"
    if name not in earlier:
        assert f"Measured with evencut {records.minor(__version__)}." in page
        assert "-dirty" not in page
    else:
        assert len(earlier[name].split()) >= 3, "the reason is missing"


@pytest.mark.long
def test_the_paper_was_reproduced_with_this_version():
    results = ROOT / "docs" / "reproduced" / "results.json"
    version = json.loads(results.read_text(encoding="utf-8"))["version"]
    assert records.minor(version) == records.minor(__version__)


def test_the_index_of_the_site_lists_every_page_under_a_question(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    contents = runpy.run_path(str(ROOT / "docs" / "_ext" / "measured_pages.py"))["contents"]
    names = records.page_names()
    index = contents(names)
    assert all(f"| [](/results/{name}.md) | " in index for name in names)
    assert "## Others" not in index
    assert "## Others" in contents([*names, "new"])
