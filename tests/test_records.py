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


def test_a_record_holds_rows_and_where_they_come_from_and_the_page_is_drawn_from_it(tmp_path):
    page = records.publish("some", {"one": TEXT, "two": "## More\n\n| c |\n|---|\n| 4 |\n"}, folder=tmp_path)
    record = json.loads((tmp_path / "records" / "some.json").read_text(encoding="utf-8"))
    one = record["sections"]["one"]
    assert record["title"] == "Title"
    assert {"version", "commit", "date", "cpu", "cores", "rows"} <= set(one)
    assert one["rows"][1] == {"columns": ["a", "b"], "rows": [["1", "two words"], ["", "3"]]}
    assert page == (tmp_path / "SOME.md").read_text(encoding="utf-8") == records.draw(record)
    for line in [*TEXT.splitlines(), "## More", "| 4 |"]:
        assert line.replace("| |", "|  |") in page
    assert page.count("*Measured with evencut") == 1


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


# ---- no page is older than the version


def stale_sections(record, version):
    """The sections of a record that another minor version measured."""
    return [name for name, one in record["sections"].items() if records.minor(one["version"]) != records.minor(version)]


def test_a_record_of_an_older_minor_version_is_stale_and_a_development_version_counts_as_its_minor():
    record = {"sections": {"old": {"version": "0.2.9"}, "dev": {"version": "0.3.0.dev0"}, "new": {"version": "0.3.1"}}}
    assert stale_sections(record, "0.3.0") == ["old"]
    assert stale_sections(record, "0.4.0.dev0") == ["old", "dev", "new"]


@pytest.mark.long
@pytest.mark.parametrize("name", records.page_names())
def test_a_page_is_drawn_from_a_record_of_this_version_and_shows_it(name):
    page = (records.HERE / f"{name.upper()}.md").read_text(encoding="utf-8")
    record = records.read_record(name)
    assert page == records.draw(record), f"the page of {name} is not its record's: python -m benchmarks {name}"
    assert f"Measured with evencut {__version__.split('.dev')[0].rsplit('.', 1)[0]}." in page
    assert not stale_sections(record, __version__), f"measured with an older version: python -m benchmarks {name}"


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
