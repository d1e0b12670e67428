"""How low the energies are that the default solver finds: `python -m benchmarks energies` writes ENERGIES.md.

The best known energy of each problem is kept in energies.json and only ever falls: `--search 300` looks for lower ones
for so many seconds of CPU and can be repeated, for it goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from evencut.solvers import refine, solve
from evencut.solvers.exchange import exchange_cycles

from .energies_page import page
from .energy_peers import PEERS, labels_of, missing, suits
from .energy_problems import count_draws, problems, scenes_file
from .records import publish

HERE = Path(__file__).parent
KNOWN = HERE / "energies.json"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--search", type=float, default=0.0, metavar="SECONDS", help="look for lower energies first")
    parser.add_argument("--only", default="", metavar="WORDS", help="problems with these words; writes no page")
    options = parser.parse_args(arguments)
    if options.search < 0:
        parser.error(f"--search {options.search:g} is negative; give the CPU seconds that the search may take.")
    chosen = list(problems(options.only))
    if not chosen:
        parser.error(f"--only {options.only!r} is in the name of no problem; try 'moons', 'Gaussian' or 'equalised'.")
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    if options.search:
        search(chosen, known, options.search)
    rows = [measure(problem, known) for problem in warmed_up(chosen)]
    _keep(known)
    if not options.only:
        print(publish("energies", {"all": page(rows, draws(), _notes(known))}))


def warmed_up(chosen):
    """The problems, after a first solution of each kind: compiling is no part of solving."""
    kinds = {}
    for problem in chosen:
        kinds.setdefault((problem.posed.matrix.graph is None, problem.is_cut), problem)
    for problem in kinds.values():
        solve(problem.posed, problem.n_clusters, random_state=0)
    yield from chosen


def measure(problem, known):
    """Energies and CPU times of the default, of the spectral solver and of the peers."""
    energies, seconds = {}, {}
    for name in ("auto", "spectral"):
        start = time.process_time()
        energies[name] = solve(problem.posed, problem.n_clusters, solver=name, random_state=0).energy
        seconds[name] = time.process_time() - start
    for peer in PEERS:
        if suits(peer, problem) and peer not in missing():
            start = time.process_time()
            energies[peer] = _energy(problem, labels_of(peer, problem))
            seconds[peer] = time.process_time() - start
    truth = None if problem.truth is None else problem.posed.energy(problem.truth)
    for name, energy in [*energies.items(), *([] if truth is None else [("the truth", truth)])]:
        _note(known, problem.name, energy, name)
    best = known[problem.name]["energy"]
    row = {"problem": problem, "energies": energies, "seconds": seconds, "truth": truth, "best": best}
    row["gap"] = gap(energies["auto"], best, problem)
    print(f"{problem.name}: {energies['auto']:.6f}, best known {best:.6f}, gap {row['gap']:.2%}", flush=True)
    return row


def _energy(problem, labels):
    """The energy of a peer's labels; none where it left a cluster empty, which is another problem."""
    whole = len(np.unique(labels)) == problem.n_clusters
    return problem.posed.energy(labels) if whole else np.inf


def gap(energy, best, problem):
    """How much worse than the best known: of the cut value for cuts, of the association otherwise."""
    if problem.is_cut:
        return (energy - best) / max(best + problem.n_clusters, 1e-3)
    return (energy - best) / abs(best)


def search(chosen, known, seconds):
    """Rounds of longer searches, least searched problems first, until the seconds are spent; kept after every round."""
    end = time.process_time() + seconds
    while (left := end - time.process_time()) > 0:
        problem = min(chosen, key=lambda problem: known.get(problem.name, {}).get("rounds", 0))
        entry = known.setdefault(problem.name, {"energy": float("inf"), "by": "", "rounds": 0})
        before = entry["energy"]
        for name, energy in round_of_search(problem, entry["rounds"]):
            _note(known, problem.name, energy, name)
        entry["rounds"] += 1
        _keep(known)
        fell = "" if entry["energy"] == before else f", {before:.6f} -> {entry['energy']:.6f} by {entry['by']}"
        print(f"[{left:.0f} s left] {problem.name}: round {entry['rounds']}{fell}", flush=True)


def round_of_search(problem, number):
    """Names and energies of one round: at first starts from elsewhere, then other seeds and far more starts."""
    posed, k = problem.posed, problem.n_clusters
    if number == 0:
        starts = {peer: labels_of(peer, problem) for peer in PEERS if suits(peer, problem) and peer not in missing()}
        if problem.truth is not None:
            starts["the truth"] = problem.truth
        for name, start in starts.items():
            labels = np.unique(start, return_inverse=True)[1].astype(np.int64)
            if labels.max() + 1 == k:
                yield f"{name}, refined", refine(posed, labels, k).energy
        return
    yield f"default, 16 starts, seed {number}", solve(posed, k, n_init=16, random_state=number).energy
    long = exchange_cycles(posed, k, n_init=8, n_runs=4, random_state=number)
    yield f"exchanges, 8 cycles, seed {number}", long[1][-1]


def draws():
    """Draws of two moons that are solved: neighbours, equalised or not, by the default, by the spectral solver."""
    return [
        (n_neighbors, equalize, *(count_draws(_solver(name), n_neighbors, equalize) for name in ("auto", "spectral")))
        for n_neighbors in (10, 20)
        for equalize in (None, "exact")
    ]


def _solver(name):
    return lambda problem, k: solve(problem, k, solver=name, random_state=0).energy


def _note(known, name, energy, by):
    entry = known.setdefault(name, {"energy": float("inf"), "by": "", "rounds": 0})
    # Less than rounding is no discovery.
    if energy < entry["energy"] - 1e-9 * abs(energy):
        entry.update(energy=float(energy), by=by)


def _keep(known):
    """Write the file whole or not at all, so that a search can be stopped at any time."""
    fresh = KNOWN.with_suffix(".new")
    fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    fresh.replace(KNOWN)


def _notes(known):
    rounds = [entry["rounds"] for entry in known.values()]
    notes = [f"long search: {min(rounds)} to {max(rounds)} rounds a problem"]
    notes += [f"{peer} is not installed and was left out" for peer in missing()]
    if scenes_file() is None:
        notes.append("EVENCUT_DATA names no folder with pictures of scenes; these problems were left out")
    return notes


if __name__ == "__main__":
    main()
