"""What was measured is kept as records, and pages say what these say."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this copy of the project", allow_module_level=True)
sys.path.insert(0, str(ROOT))
from benchmarks import records  # noqa: E402
from benchmarks.__main__ import BENCHMARKS, main  # noqa: E402

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
