"""No table ends the process: every metric, kernel and estimator on degenerate tables answers, or raises a ValueError.

`degenerate.py` beside this file holds the tables and the fits, `fuzzing.py` says how many are tried.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from degenerate import describe, fit_number
from fuzzing import is_nightly, n_examples

PROGRAM = Path(__file__).with_name("degenerate.py")
_MOST_SECONDS_A_BATCH = 1800
_BATCHES = 3
_BATCH_AT_NIGHT = 500


def outcomes(numbers):
    """What became of each fit, whether its process lived or not."""
    found, left = {}, list(numbers)
    while left:
        child = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(PROGRAM)],
            input=json.dumps(left),
            capture_output=True,
            text=True,
            timeout=_MOST_SECONDS_A_BATCH,
            check=False,
        )
        lines = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        if not lines:
            raise RuntimeError(f"the child says nothing: {child.stderr[-2000:]}")
        found.update(lines)
        if child.returncode == 0:
            break
        # The last fit that was begun and not ended is the one that died.
        assert lines[-1][1] is None, child.stderr[-2000:]
        found[lines[-1][0]] = f"died with code {child.returncode}: {child.stderr[-600:]}"
        left = left[left.index(lines[-1][0]) + 1 :]
    return found


def batches():
    total = n_examples(300)
    size = _BATCH_AT_NIGHT if is_nightly() else -(-total // _BATCHES)
    return [range(first, min(first + size, total)) for first in range(0, total, size)]


@pytest.mark.parametrize("numbers", batches(), ids=lambda numbers: f"{numbers[0]}-{numbers[-1]}")
def test_no_degenerate_table_ends_the_process(numbers):
    found = outcomes(numbers)
    assert set(found) == set(numbers)
    bad = [f"{describe(number)}\n    {what}" for number, what in found.items() if what not in ("answered", "refused")]
    assert not bad, f"{len(bad)} of {len(found)} fits failed\n" + "\n".join(bad)
    assert "answered" in found.values() and "refused" in found.values()


def test_the_batch_goes_on_after_a_fit_that_died(tmp_path, monkeypatch):
    """What the test above rests on: a death is told, and the fits after it are made."""
    program = tmp_path / "dies.py"
    program.write_text(
        "import json, os, sys\n"
        "for number in json.load(sys.stdin):\n"
        "    print(json.dumps([number, None]), flush=True)\n"
        "    if number == 3: os.abort()\n"
        "    print(json.dumps([number, 'answered']), flush=True)\n"
    )
    monkeypatch.setattr(f"{__name__}.PROGRAM", program)
    found = outcomes(range(6))
    assert [number for number, what in found.items() if what == "answered"] == [0, 1, 2, 4, 5]
    assert found[3].startswith("died with code")


def test_a_usual_run_tries_nearly_all_combinations():
    """300 fits meet every estimator, and half of its kernels and metrics."""
    met = {describe(number).split(",")[0].split(": ")[1] for number in range(300)}
    assert len(met) == 8
    assert fit_number(0) in ("answered", "refused")
