"""The paper's claims hold in small versions; what is written can be read again; the command says what it did."""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import reproduction
from reproduction import FIGURES, Claim, DataMissing, Figure, Verdict, make, photo_figures
from reproduction.command import main
from reproduction.dominant_sets import largest_clique
from reproduction.frame import TEXTS, Both, Run, find_data
from reproduction.index_page import page
from reproduction.results import PARTS, claims_about, counts_of, items, pages_of, results_of

NEEDS_DATA = {name for name, text in TEXTS.items() if text.get("data")}
KEPT = Path(__file__).parents[1] / "docs" / "reproduced" / "results.json"
# Keys of claims that fail in the small versions, for the reason the figure gives: by Lloyd's steps, and at the
# lowest energy.
STEPS_FAIL = {
    "fig1": {"factors", "tail", "draws"},
    "dominant": {"association", "similar"},
    "labelme": {"two"},
    "ncut": {"numbers", "no_bandwidth", "without", "gaussian"},
    "pairs": {"weights"},
    "inversion": {"three"},
}
LOWEST_FAIL = {
    "fig1": {"kernels", "gaussian", "factors", "tail", "draws"},
    "dominant": {"similar"},
    "labelme": {"gaussian", "slightly"},
    "normalized": {"critical"},
    "adaptive": {"log"},
    "mds": {"right"},
    "ncut": {"without", "gaussian"},
    "pairs": {"inverted", "weights"},
}


def claim_of(says, holds, why="", lowest=None, **options):
    """A claim with one verdict, or with two."""
    second = None if lowest is None else Verdict.of("low", lowest, why)
    return Claim(says, Verdict.of("b", holds, why), second, **options)


def figure_of(*claims, name="fig1", title="t", caption="c", picture=None, numbers=None):
    return Figure(name, title, caption, picture, list(claims), numbers or {})


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENCUT_DATA", raising=False)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code, out=captured.out, err=captured.err)

    return run


def failing(figure, which):
    """The sentences of the figure's claims that fail, without what differs from claim to claim of one key."""
    verdicts = [(claim.says, getattr(claim, which)) for claim in figure.claims]
    return {says for says, verdict in verdicts if verdict is not None and verdict.verdict == "fail"}


def wanted(name, keys):
    """The beginnings of the sentences of some claims, up to what the figure fills in."""
    return {TEXTS[name]["claims"][key]["says"].split("{")[0] for key in keys}


def check(figure, name):
    assert figure.name == name
    assert figure.claims
    assert figure.surprises == []
    assert all(v.why for claim in figure.claims for v in claim.verdicts if v.verdict != "pass")
    for which, known in (("steps", STEPS_FAIL), ("lowest", LOWEST_FAIL)):
        begins = wanted(name, known.get(name, ()))
        failed = failing(figure, which)
        assert all(any(says.startswith(begin) for begin in begins) for says in failed), failed
        assert all(any(says.startswith(begin) for says in failed) for begin in begins), failed
    kept = {one["name"]: one["claims"] for one in json.loads(KEPT.read_text(encoding="utf-8"))["figures"]}
    told = [claim["says"] for claim in kept[name]]
    assert told == [claim.says for claim in figure.claims], "docs/reproduced is old: make paper"


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FIGURES if name not in NEEDS_DATA])
def test_the_claims_hold(name):
    check(make(name, small=True), name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in FIGURES if name in NEEDS_DATA])
def test_the_claims_on_real_data_hold(name, data_folder):
    check(make(name, data=data_folder, small=True), name)


@pytest.mark.parametrize("name", [name for name in FIGURES if name in NEEDS_DATA])
def test_absent_data_is_named(name, tmp_path):
    for folder in (None, tmp_path):
        with pytest.raises(DataMissing, match="--data"):
            make(name, data=folder)


def test_a_figure_is_written_whole_and_the_same_each_time(tmp_path):
    first = make("degrees", small=True).save(tmp_path / "one")
    second = make("degrees", small=True).save(tmp_path / "two")
    assert [path.name for path in first] == ["degrees.png", "degrees.svg", "degrees.json"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    told = json.loads(first[2].read_text(encoding="utf-8"))
    assert told["verdict"] == "pass"
    assert set(told["claims"][0]) == {"says", "steps", "lowest", "at", "ours"}
    assert set(told["claims"][0]["steps"]) == {"measured", "verdict", "why"}


def test_an_explanation_stands_beside_a_verdict_and_does_not_change_it():
    assert Verdict.of("b", True, why="not needed") == Verdict("b", "pass")
    assert Verdict.of("b", False).verdict == "fail"
    assert Verdict.of("b", False, why="because") == Verdict("b", "fail", "because")
    assert Verdict.of("b", None, why="too few") == Verdict("b", "not tested", "too few")


def test_a_figure_has_the_worst_verdict_of_its_claims():
    well, untested = claim_of("a", True), claim_of("a", None, why="too few")
    explained, surprise = claim_of("a", False, why="because"), claim_of("a", False)
    assert figure_of(well).verdict == "pass"
    assert figure_of(well, untested).verdict == "not tested"
    assert figure_of(well, untested, explained).verdict == "fail"
    assert figure_of(explained, surprise).surprises == [surprise]


def test_the_lowest_energy_is_a_verdict_of_its_own():
    split = claim_of("a", True, lowest=False)
    assert split.steps.verdict == "pass"
    assert split.lowest.verdict == "fail"
    assert figure_of(split).verdict == "fail"
    assert figure_of(split).surprises == [split]


@pytest.mark.parametrize(("gap", "verdict"), [(0.5, "fail"), (-0.5, "pass"), (0.0, "not tested")])
def test_photos_decide_between_both_criteria_by_paired_intervals(monkeypatch, rng, tmp_path, gap, verdict):
    """`gap` is by how much average association is worse than normalised cut with the KNN kernel, in every row."""
    errors = {cell: 20 + rng.normal(0, 5, 50) for cell in photo_figures.CELLS} | {photo_figures.OURS: np.zeros(50)}
    for term in ("none", "length", "contrast"):
        errors["knn", "normalized_cut", term] = 10 + rng.normal(0, 5, 50)
        errors["knn", "average_association", term] = (
            errors["knn", "normalized_cut", term] + gap + rng.permutation(np.linspace(-0.3, 0.3, 50))
        )
    monkeypatch.setattr(photo_figures.measured, "run", lambda *_, **__: errors)
    (tmp_path / "grabcut").mkdir()
    (tmp_path / "grabcut" / "boxes.csv").touch()
    run = Run("table1", tmp_path)
    photo_figures.table1(run)
    (best,) = run.claims["best"]
    assert best.steps.verdict == verdict


def test_a_cell_that_the_bandwidth_was_fitted_to_is_no_test():
    table = next(one for one in json.loads(KEPT.read_text(encoding="utf-8"))["figures"] if one["name"] == "table1")
    named = ("Gaussian AA, no", "Gaussian NC, no")
    fitted = [c["steps"]["verdict"] for c in table["claims"] if c["says"].startswith(named)]
    assert fitted == ["not tested", "not tested"]


@pytest.fixture
def text(monkeypatch):
    claims = {
        "twice": {"says": "a", "measured": "{m[0]} of {n}", "why": "steps", "why_lowest": "low", "above": {"m[0]": 3}},
        "once": {"says": "b of {name}", "measured": "{n}"},
    }
    monkeypatch.setitem(TEXTS, "made_up", {"title": "t", "caption": "{n} points", "claims": claims})


def test_one_rule_judges_what_both_solvers_find(text):
    run = Run("made_up")
    run.words, run.by = {"n": 9}, Both([1], [5])
    run.decide("once", True, name="x")
    figure = run.figure(None)
    assert figure.caption == "9 points"
    assert figure.claims[0].steps == Verdict("1 of 9", "fail", "steps")
    assert figure.claims[0].lowest == Verdict("5 of 9", "pass")
    assert figure.claims[1] == Claim("b of x", Verdict("9", "pass"))


def test_the_solvers_are_those_of_the_policy(text):
    assert Run("made_up").both(lambda solver: solver.name) == Both("lloyd", "auto")


@pytest.mark.parametrize(
    ("limits", "measured", "holds"),
    [
        ({"above": {"n": 3}}, {"n": 4}, True),
        ({"above": {"n": 3}}, {"n": 3}, False),
        ({"at_least": {"n": 3}}, {"n": [3, 4]}, True),
        ({"at_least": {"n": 3}}, {"n": [2, 4]}, False),
        ({"below": {"n": "most"}}, {"n": {"a": 1, "b": 2}, "most": 3}, True),
        ({"below": {"n": "most"}}, {"n": {"a": 1, "b": 3}, "most": 3}, False),
        ({"below": {"n": "0.5 * most"}}, {"n": 1, "most": 3}, True),
        ({"below": {"n": "0.5 * most"}}, {"n": 2, "most": 3}, False),
        ({"at_most": {"n[a b]": 1}, "equal": {"is_so": True}}, {"n": {"a b": 1}, "is_so": True}, True),
        ({"at_most": {"n[a b]": 1}, "equal": {"is_so": True}}, {"n": {"a b": 1}, "is_so": False}, False),
    ],
)
def test_a_claim_holds_where_all_that_was_measured_keeps_its_limits(monkeypatch, limits, measured, holds):
    claims = {"one": {"says": "a", "measured": "{n}", **limits}}
    monkeypatch.setitem(TEXTS, "made_up", {"title": "t", "caption": "c", "claims": claims})
    run = Run("made_up")
    run.words = measured
    assert run.figure(None).verdict == ("pass" if holds else "fail")


def test_a_claim_that_nothing_has_judged_is_an_error(text):
    run = Run("made_up")
    run.words, run.by = {"n": 9}, Both([1], [5])
    with pytest.raises(ValueError, match="has not judged once"):
        run.figure(None)


def test_the_page_tells_every_claim_and_escapes_it():
    figure = figure_of(claim_of("a < b", True, lowest=False), title="1 & 2")
    html = page(results_of([figure.as_dict()], [("labelme", "needs data")]))
    assert "a &lt; b" in html
    assert "1 &amp; 2" in html
    assert "1 claims of the paper, by Lloyd&#x27;s steps: 1 reproduced, 0 failed, 0 not tested" in html
    assert "1 the same at the lowest energy found: 0 reproduced, 1 failed, 0 not tested" in html
    assert 'src="fig1.png"' in html
    assert "labelme: needs data" in html


def test_the_pages_of_the_documentation_tell_every_claim_with_both_verdicts():
    claims = [
        Claim("a | b", Verdict.of("1 * 2", True), Verdict.of("x", False, "the moon is full"), at="eq. 9"),
        Claim("c", Verdict.of("d_e", False, why="it rains")),
        Claim("f", Verdict.of("g", None, why="too few"), ours=True),
    ]
    figure = figure_of(*claims, title="Figure 1: a title", numbers={"left": "out"}).as_dict()
    pages = pages_of(results_of([figure], [("labelme", "needs data")]), {"fig1": "fig1.png"})
    assert set(pages) == {"body", *PARTS}
    assert r"| a \| b (eq. 9) | pass: 1 \* 2. | **fail**: x. *Because the moon is full.* |" in pages["bias"]
    assert r"| c | **fail**: d\_e. *Because it rains.* | – |" in pages["bias"]
    assert "```{image} fig1.png\n:alt: Figure 1: a title\n" in pages["bias"]
    assert "`python -m reproduction fig1`, tested by `test_the_claims_hold[fig1]`" in pages["bias"]
    body = pages["body"]
    assert "| claims of the paper, by Lloyd's steps | 1 | 1 | 0 |" in body
    assert "| findings of our own | 0 | 0 | 1 |" in body
    link = "[`fig1`](reproduced/bias.md#made-fig1)"
    assert rf"| {link} | a \| b | pass | **fail** |" in body
    assert f"| Figure 1 | {link} | 1 pass, 1 **fail** | 1 **fail** |" in body
    assert body.index("What does not hold") < body.index("Every figure")
    assert "- `labelme` needs data" in body


def test_definitions_are_not_counted():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))["figures"]
    equations = next(one for one in kept if one["name"] == "equations")
    counted = sum(counts_of([equations])["equations that state something"].values())
    assert 30 < counted < len(equations["claims"])
    assert sum(counts_of([equations])["claims of the paper, by Lloyd's steps"].values()) == 0


def test_the_kept_results_cover_the_paper():
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert [one["name"] for one in kept["figures"]] == list(FIGURES)
    claims = [claim for one in kept["figures"] for claim in one["claims"]]
    assert sum(not claim["ours"] for claim in claims if not claim["at"].startswith("eq. ")) >= 80
    assert sum(claim["lowest"] is not None for claim in claims) >= 40
    verdicts = [verdict for claim in claims for verdict in (claim["steps"], claim["lowest"]) if verdict]
    assert all(verdict["why"] for verdict in verdicts if verdict["verdict"] != "pass")
    for item in (item for item in items() if not item.startswith("Equation")):
        about = claims_about(item, kept["figures"])
        assert about, f"no claim is about {item}"
        if not item.startswith(("Figure", "Table")):
            assert all(claim["at"].startswith(item) for claim in about), "credited with what is not its own"
    table = next(one for one in kept["figures"] if one["name"] == "table1")
    assert table["numbers"]["photos"] == 50


def test_the_largest_clique_is_the_largest_of_all_subsets(rng):
    X = rng.uniform(size=(12, 2))
    near = cdist(X, X) <= 0.5
    best = max(
        size for size in range(1, 13) for s in itertools.combinations(range(12), size) if near[np.ix_(s, s)].all()
    )
    clique = largest_clique(X, 0.5)
    assert near[np.ix_(clique, clique)].all()
    assert len(clique) == best


def test_an_unknown_figure_is_named():
    with pytest.raises(ValueError, match="fig99"):
        make("fig99")


def test_find_data_gives_the_path(tmp_path):
    (tmp_path / "labelme").mkdir()
    assert find_data(tmp_path, "labelme") == tmp_path / "labelme"


def test_the_command_makes_one_figure(run, tmp_path):
    done = run("degrees", "--out", "pictures")
    assert done.code == 0
    assert "pass" in done.out
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"degrees.png", "degrees.svg", "degrees.json"}


def test_the_command_makes_all_and_skips_what_lacks_data(run, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction, "FIGURES", ("degrees", "labelme"))
    done = run("all")
    assert done.code == 0
    assert "skipped labelme: needs labelme/features.npz" in done.err
    assert "4 claims of the paper, by Lloyd's steps: 4 pass, 0 fail, 0 not tested" in done.out
    kept = json.loads((tmp_path / "out/paper/results.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in kept["figures"]] == ["degrees"]
    assert kept["skipped"][0][0] == "labelme"
    html = (tmp_path / "out/paper/index.html").read_text(encoding="utf-8")
    assert "degrees.png" in html
    assert "labelme: needs" in html


def test_figures_made_at_the_same_time_are_those_made_one_by_one(run, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction, "FIGURES", ("degrees", "weights"))
    for jobs in ("1", "2"):
        assert run("all", "--jobs", jobs, "--out", jobs).code == 0
    for name in ("degrees.json", "weights.png"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_figure_made_again_takes_its_place_in_the_results(run, tmp_path):
    folder = tmp_path / "out" / "paper"
    folder.mkdir(parents=True)
    old = {"figures": [{"name": "fig1"}, {"name": "degrees", "claims": []}], "skipped": [["labelme", "needs data"]]}
    (folder / "results.json").write_text(json.dumps(old), encoding="utf-8")
    assert run("degrees").code == 0
    new = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert new["skipped"] == old["skipped"]
    assert new["figures"][0] == {"name": "fig1"}
    assert len(new["figures"][1]["claims"]) == 4


def test_a_claim_that_fails_fails_the_command(run, monkeypatch):
    empty = make("degrees", small=True)
    bad = figure_of(claim_of("a", False), name="degrees", picture=empty.picture)
    monkeypatch.setattr(reproduction, "make", lambda *_, **__: bad)
    assert run("degrees").code == 1


def test_a_failure_with_a_known_reason_is_printed_with_it(run, monkeypatch):
    empty = make("degrees", small=True)
    known = figure_of(claim_of("a", False, why="the moon is full"), name="degrees", picture=empty.picture)
    monkeypatch.setattr(reproduction, "make", lambda *_, **__: known)
    done = run("degrees")
    assert done.code == 0
    assert "fail" in done.out
    assert "because the moon is full" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["figg1"], "did you mean fig1?"),
        (["labelme"], "needs labelme/features.npz"),
        (["degrees", "--data", "nowhere"], "--data nowhere is not a folder"),
        (["degrees", "--out", f"{__file__}/x"], "cannot make the folder"),
    ],
)
def test_a_mistake_costs_one_line(run, arguments, said):
    done = run(*arguments)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_the_command_evencut_says_where_the_figures_are_made(capsys):
    from evencut.cli import main

    with pytest.raises(SystemExit) as left:
        main(["reproduce", "fig1"])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert "make paper" in said
    assert len(said.strip().splitlines()) == 1
