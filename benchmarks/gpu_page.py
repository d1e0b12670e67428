"""The page benchmarks/GPU.md from what was measured: beside every number its peer, or the limit of the chip."""

from __future__ import annotations

# Exponentials that the special units of an H200 can do, in thousands of millions a second.
_MOST_EXPONENTIALS = 4000.0


def page(results, n_points):
    """The page as text; what was not measured is left out."""
    machine = results.get("machine", {})
    parts = [
        "# On a GPU: measured",
        "Written by `python -m benchmarks.gpu`. Seconds of wall time, the device synchronised; "
        f"{n_points:,} points unless said otherwise. {machine.get('device', '?')}, torch {machine.get('torch', '?')}, "
        f"{machine.get('cpu_cores', '?')} CPU cores.",
        _neighbours(results, n_points),
        _sums(results),
        _fits(results),
        _predictions(results),
        _steps(results),
        _starts(results),
        _against_cpu(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join(lines + [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows])


def _beside(peer, seconds):
    return "-" if peer is None else f"{peer:.1f} ({peer / seconds:.1f}x)"


def _named(results, start):
    return {name.removeprefix(start): values for name, values in results.items() if name.startswith(start)}


def _neighbours(results, n_points):
    found = _named(results, "neighbours: ")
    tflops = results.get("fp16 product", {}).get("tflops")
    rows, library = [], "a peer"
    for name, values in found.items():
        if "wrong" not in values:
            continue
        n_features = int(name.split()[0])
        plain = found.get(f"plain torch, {n_features} features", {}).get("seconds")
        least = None if tflops is None else 2 * n_points**2 * max(n_features, 64) / tflops / 1e12
        peer = results.get(f"peer: neighbours, {n_features} features", {})
        library = peer.get("library", library)
        seconds = values["seconds"]
        rows.append((
            name, f"{seconds:.2f}", _beside(plain, seconds), _beside(peer.get("seconds"), seconds),
            "-" if least is None else f"{least:.2f} ({seconds / least:.1f}x)",
            values["wrong"], sum(values["attempts"][1:]), values["in_float64"],
        ))  # fmt: skip
    if not rows:
        return ""
    peers = ("plain torch, tf32, s", f"{library}, s", "products alone, s")
    head = ("data", "s", *peers, "wrong of 16000", "looked at again", "in float64")
    text = (
        "Exact 16 nearest neighbours. Plain torch is a product and a top-k a block, without the exactness check that "
        "makes the indices exact. The limit is one fp16 product of all pairs at the speed that torch reaches on this "
        "device; up to 64 features it is one tile wide. Wrong: of 1000 random rows, neighbours that differ from "
        "float64 by more than a tie."
    )
    return f"## Neighbours\n\n{text}\n\n{_table(head, rows)}"


def _sums(results):
    found = _named(results, "sums: ")
    plain = found.pop("plain torch", {}).get("giga_pairs_per_s")
    if not found:
        return ""
    rows = []
    for name, values in found.items():
        rate = values["giga_pairs_per_s"]
        limit = _MOST_EXPONENTIALS / (2 if name.startswith("adaptive") else 1)
        times = "-" if plain is None else f"{rate / plain:.0f}x"
        seconds, error = f"{values['seconds']:.2f}", f"{values['error']:.0e}"
        rows.append((name, seconds, f"{rate:.0f}", times, f"{rate / limit:.0%}", error))
    text = (
        f"K(X, X) V for 8 features. Plain torch: {'?' if plain is None else round(plain)} G pairs/s for the Gaussian "
        "kernel. The limit is that of the exponentials, one a pair (two for the adaptive kernel). The error is the "
        "largest relative one of 512 rows, against float64."
    )
    others = _named(results, "peer: sums, ")
    if others:
        rates = "; ".join(f"{name} {values['giga_pairs_per_s']:.0f}" for name, values in others.items())
        text += f" Peers that form no matrix, in G pairs/s: {rates}."
    head = ("sum", "s", "G pairs/s", "against plain torch", "of the limit", "error")
    return f"## Sums of kernels\n\n{text}\n\n{_table(head, rows)}"


def _fits(results):
    found = _named(results, "fit: ")
    if not found:
        return ""
    rows = [
        (name, f"{v['seconds']:.1f}", f"{v['ari']:.4f}", f"{v['largest_copy_mb']:.0f}", f"{v['copies_mb']:.0f}")
        for name, v in found.items()
    ]
    text = (
        "Points on the device to labels on the device. All pairs: `KernelKMeans(20, kernel='adaptive_gaussian')`, 8 "
        "features. The others: 384 features, 20 clusters. Copies are what crossed between device and CPU, in MB: "
        "graphs, labels, and for the default the 5000 centres that many points are condensed to."
    )
    same = [
        f"same seed, same labels: {values['same_seed_same_labels']} ({name})"
        for name, values in results.items()
        if "same_seed_same_labels" in values
    ]
    head = ("fit", "s", "ARI", "largest copy", "all copies")
    return f"## Whole fits\n\n{text}\n\n{_table(head, rows)}\n\n{'; '.join(same)}."


def _predictions(results):
    found = _named(results, "predict: ")
    if not found:
        return ""
    rows = [
        (name, f"{v['seconds']:.2f}", f"{v['fit_s']:.2f}", f"{v['of_the_fit']:.1f}x", f"{v['agreement']:.4f}")
        for name, v in found.items()
    ]
    text = (
        "`predict` of all fitted rows by the default model: each finds its nearest centres, and the neighbours it "
        "shares with them, on the device. Agreement: the share of rows that keep the label of the fit."
    )
    return f"### New rows\n\n{text}\n\n{_table(('default', 's', 'its fit, s', 'of the fit', 'agreement'), rows)}"


def _steps(results):
    steps = results.get("default: steps")
    if not steps:
        return ""
    rows = [(name.removesuffix("_s").replace("_", " "), f"{seconds:.2f}") for name, seconds in steps.items()]
    text = "The default fit, step by step. What says CPU is done there, on all cores; the rest is the device's."
    return f"### Where the time goes\n\n{text}\n\n{_table(('step', 's'), rows)}"


def _starts(results):
    found = _named(results, "start: ")
    if not found:
        return ""
    rows = []
    for table in dict.fromkeys(name.split(", ", 1)[1] for name in found):
        sample, whole = (found[f"{start}, {table}"] for start in ("sample_start", "spectral_start"))
        gain = (sample["energy"] - whole["energy"]) / abs(sample["energy"])
        rows.append((
            f"{table}, {sample['n']:,} points", f"{sample['energy']:.4f}", f"{sample['seconds']:.1f}",
            f"{whole['energy']:.4f}", f"{whole['seconds']:.1f}", f"{gain:.2%}",
        ))  # fmt: skip
    text = (
        "Normalised cuts of all pairs of the adaptive Gaussian kernel, 20 clusters, Lloyd steps included: from the "
        "spectrum of a sample of 4000, and from that of all points by block products. A fit runs both and keeps the "
        "lower energy."
    )
    head = ("data", "energy, sample", "s", "energy, all points", "s", "lower by")
    return f"### Starts of all pairs\n\n{text}\n\n{_table(head, rows)}"


def _against_cpu(results):
    names = {
        "default: against the CPU": "default",
        "exact neighbours: against the CPU": "16 exact neighbours",
        "exact neighbours, fit: against the CPU": "fit to the graph of exact neighbours",
    }
    rows = []
    for key, name in names.items():
        values = results.get(key)
        if values:
            cpu_ari = f"{values['cpu_ari']:.4f}" if "cpu_ari" in values else "-"
            rows.append((f"{name}, {values['n']:,} points", f"{values['device_s']:.2f}", f"{values['cpu_s']:.1f}",
                         f"{values['times_faster']:.1f}x", cpu_ari))  # fmt: skip
    pairs = results.get("all pairs: labels")
    if not rows and not pairs:
        return ""
    text = (
        "The same values as arrays, on all cores of the same machine. The default condenses many points to 5000 "
        "centres on both; what is left, comparing partitions of the centres, is the CPU's work on both. Exact "
        "neighbours are the same work on both: every pair of points is compared. The graph is cut by the CPU on both."
    )
    table = _table(("384 features", "device s", "CPU s", "faster", "ARI on the CPU"), rows) if rows else ""
    said = ""
    if pairs:
        said = (
            f"All pairs, exact equalisation, {pairs['n_few']:,} points: ARI {pairs['ari_device']:.4f} on the device, "
            f"{pairs['ari_cpu']:.4f} on the CPU."
        )
    return "\n\n".join(part for part in ("## Against our own CPU path", text, table, said) if part)
