"""The Python code and the command line that make exactly the result on the page.

The code follows the steps of `methods.fit_labels` and `sheets.read_sheet`; a test runs it and compares the labels.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from .examples import PHOTOS, POINTS
from .methods import Method
from .photo_state import Photo
from .prompts import code_lines
from .sessions import Correction, Run
from .sheets import Sheet

_SHOWN_ROWS = 12


def points_code(table: Sheet, run: Run) -> str:
    """A Python file that makes the labels of a run and writes them to labels.csv."""
    from evencut import __version__

    has_gaps = bool(run.facts.get("n_missing"))
    body = [*_reading(table, run.columns), ""]
    if has_gaps:
        body += ["complete = np.isfinite(X).all(axis=1)  # rows with gaps are labelled -1", "X = X[complete]"]
    if run.method is None:
        body += [f"# The labels are those of the column {run.facts.get('column')!r}; nothing was clustered."]
        head = [f'"""Made by evencut studio {__version__}."""', "", "import numpy as np", _reader(table)]
        return "\n".join([*head, "", *body, ""])
    method = Method(**run.method)
    imports, call = _estimator_code(method)
    body += _held_lines(run.corrections, table.n_rows, has_gaps)
    held = bool(run.corrections)
    body += [f"model = {call}", *_fitting_lines(method, len(run.labels) - run.facts["n_missing"], held)]
    for edit in run.edits:
        body += edit.code()
    if any(edit.kind == "split" for edit in run.edits) and "from evencut import EvenCut" not in imports:
        imports.append("from evencut import EvenCut")
    if has_gaps:
        body += ["found = np.full(len(complete), -1)", "found[complete] = labels", "labels = found"]
    body += ['np.savetxt("labels.csv", labels, fmt="%d", header="label", comments="")']
    imports.append(_reader(table))
    head = [f'"""Made by evencut studio {__version__}: makes the same labels again."""', "", "import numpy as np"]
    return "\n".join([*head, *sorted(imports, key=lambda line: line.split()[1]), "", *body, ""])


def _reader(table: Sheet) -> str:
    """The import that reading the points needs."""
    if table.source["kind"] == "example":
        return POINTS[table.source["example"]].code[0]
    return f"from evencut.io import {'Source, ' if table.source.get('written') == 'latin-1' else ''}read_columns"


def _reading(table: Sheet, columns: list[str]) -> list[str]:
    source = table.source
    if source["kind"] == "example":
        return list(POINTS[source["example"]].code[1:])
    told = [repr(source["name"]), f"columns={columns!r}", "guess=True"]
    if source.get("written") == "latin-1":
        told[0] = f'Source({told[0]}, encoding="latin-1")'
    if source["kind"] == "csv":
        told.append(f"header={source['header']}")
    if source.get("delimiter") and source.get("written") not in ("blanks", "excel"):
        told += [f"separator={source['delimiter']!r}", f"decimal={source['decimal']!r}"]
    return [
        f"columns = read_columns({', '.join(told)})",
        "X = np.column_stack([column.numbers for column in columns])",
    ]


def _estimator_code(method: Method) -> tuple[list[str], str]:
    """The imports, and the call that builds the estimator."""
    if method.tool == "kmeans":
        call = f"KMeans({method.n_clusters}, n_init=10, random_state={method.seed})"
        return ["from sklearn.cluster import KMeans", *_scaling(method)], call
    if method.tool == "hdbscan":
        call = f"HDBSCAN(min_cluster_size={method.min_cluster_size}, copy=True)"
        return ["from sklearn.cluster import HDBSCAN", *_scaling(method)], call
    name, parts = "EvenCut" if method.tool == "evencut" else "KernelClustering", [repr(method.n_clusters)]
    imports, asked = [f"from evencut import {name}"], ["scale"]
    if method.tool == "kernel":
        kernel = type(method.kernel_object()).__name__
        imports.append(f"from evencut.kernels import {kernel}")
        parts.append(f"kernel={kernel}({', '.join(f'{name}={value!r}' for name, value in method.parameters.items())})")
        asked = ["criterion", "equalize", "scale"]
    chosen = {part: getattr(method, part) for part in asked}
    parts += [f"{part}={value!r}" for part, value in chosen.items() if value != Method.model_fields[part].default]
    return imports, f"{name}({', '.join(parts)}, random_state={method.seed})".replace("'", '"')


def _scaling(method: Method) -> list[str]:
    """The import for columns that the estimator does not scale by itself."""
    return ["from evencut.points import feature_scale"] if method.scale else []


def _held_lines(corrections: Sequence[Correction], n_rows: int, has_gaps: bool) -> list[str]:
    """Partial labels; long lists of rows are read from the file that the page exports beside the code."""
    if not corrections:
        return []
    lines = [f"y = np.full({n_rows}, -1)  # -1: not corrected"]
    if sum(len(correction.rows) for correction in corrections) > _SHOWN_ROWS * 40:
        lines += [
            'held = np.loadtxt("corrections.csv", delimiter=",", skiprows=1, dtype=int, ndmin=2)  # export it, too',
            "y[held[:, 0]] = held[:, 1]",
        ]
    else:
        lines += [f"y[{correction.rows.tolist()}] = {correction.label}" for correction in corrections]
    return [*lines, "y = y[complete]"] if has_gaps else lines


def _fitting_lines(method: Method, n_points: int, held: bool) -> list[str]:
    if method.tool in ("kmeans", "hdbscan") and method.scale:
        return [f'labels = model.fit(X / feature_scale(X, "{method.scale}")).labels_']
    if not method.is_sampled(n_points):
        return [f"labels = model.fit(X{', y' if held else ''}).labels_"]
    lines = [
        f"rng = np.random.default_rng({method.seed})",
        f"chosen = np.sort(rng.choice(len(X), {method.sample}, replace=False))  # a dense kernel sees a sample",
    ]
    if held:
        lines.append("chosen = np.union1d(chosen, np.flatnonzero(y >= 0))")
    return [
        *lines,
        f"model.fit(X[chosen]{', y[chosen]' if held else ''})",
        "labels = model.predict(X)",
        "labels[chosen] = model.labels_",
    ]


def points_command(table: Sheet, run: Run) -> tuple[str, str]:
    """The command line that makes the same labels; or why no command can."""
    if run.method is None:
        return "", "the labels come from a column of the file."
    method = Method(**run.method)
    if method.tool not in ("evencut", "kernel"):
        return "", f"the command clusters with evencut only, not with {method.tool}; use the Python code."
    if run.edits:
        return "", "the command merges and splits no clusters; use the Python code."
    if run.corrections:
        return "", "the command takes no corrections by hand; use the Python code."
    if run.facts["n_fitted"] < len(run.labels) - run.facts["n_missing"]:
        return "", "a dense kernel was fitted on a sample of the points; use the Python code."
    lines, name = _file_lines(table)
    words = ["evencut", "cluster", name, "-k", str(method.n_clusters)]
    if run.facts["n_missing"]:
        words += ["--missing", "drop"]
    words += ["--columns", ",".join(_as_options(table, run.columns))]
    if table.source.get("written") == "latin-1":
        words += ["--encoding", "latin-1"]
    if method.tool == "kernel":
        words += ["--kernel", method.kernel]
        for option, value in method.parameters.items():
            words += ["--parameter", f"{option}={value}"]
        for option in ("criterion", "equalize"):
            if getattr(method, option) != Method.model_fields[option].default:
                words += [f"--{option}", str(getattr(method, option))]
    if method.scale != "auto":
        return "", "the command has no option for this scaling; use the Python code."
    words += ["--seed", str(method.seed), "-o", "labels.csv"]
    return "\n".join([*lines, shlex.join(words)]), ""


def _as_options(table: Sheet, columns: list[str]) -> list[str]:
    """Columns as the command takes them: by name, or by number where a name would be read as something else."""
    names = [column.name for column in table.columns]
    plain = all("," not in name and name == name.strip() and name[:1] not in ("", "-") for name in columns)
    if table.source["kind"] == "example" or not plain:
        return [str(names.index(name) + 1) for name in columns]
    return columns


def _file_lines(table: Sheet) -> tuple[list[str], str]:
    """What writes the points of an example to a file, and the name of the file to read."""
    source = table.source
    if source["kind"] != "example":
        return [], _as_argument(source["name"])
    made = "; ".join([*POINTS[source["example"]].code, f"numpy.savetxt({source['name']!r}, X, delimiter=',')"])
    return [f"python -c {shlex.quote('import numpy; ' + made)}"], source["name"]


def photo_code(photo: Photo) -> str:
    """A Python file that makes the masks of a photo again and writes mask.png and, for one object, cutout.png."""
    from evencut import __version__

    source = photo.source
    objects = photo.objects()
    lines = _lines_of_objects(photo, objects) if len(objects) > 1 else code_lines(photo.prompts())
    used, imports = ["segment"], []
    if any("draw_strokes(" in line for line in lines):
        used.insert(0, "draw_strokes")
    if source["kind"] == "example":
        first, *reading = PHOTOS[source["example"]].code
        imports.append(first)
    else:
        used.insert(-1, "read_image")
        reading = [f"image = read_image({source['name']!r})"]
    if any("np." in line for line in lines):
        imports.append("import numpy as np")
    head = [f'"""Made by evencut studio {__version__}: makes the same mask again."""', "", *imports]
    head += [f"from evencut.segmentation import {', '.join(used)}", "from PIL import Image", ""]
    return "\n".join([*head, *reading, *lines, *_writing(photo, objects), ""])


def _lines_of_objects(photo: Photo, objects: list[int]) -> list[str]:
    """Each object cut out by itself; later ones lie over earlier ones."""
    lines = ["labels = np.ones(image.shape[:2], dtype=np.uint8)  # 1: background"]
    for place, one in enumerate(objects):
        name = photo.names.get(one, f"object {one}")
        lines += [*code_lines(photo.prompts(one)), f"labels[result.mask] = {place + 2}  # {name!r}"]
    return lines


def _writing(photo: Photo, objects: list[int]) -> list[str]:
    if len(objects) > 1:
        return ['Image.fromarray(labels).save("mask.png")']
    if max((prompt.label for prompt in photo.prompts()), default=2) > 2:
        return ['Image.fromarray(result.labels.astype("uint8")).save("mask.png")']
    return [
        'Image.fromarray((255 * result.mask).astype("uint8")).save("mask.png")',
        'photo = Image.fromarray(image).convert("RGB")',
        'photo.putalpha(Image.open("mask.png"))',
        'photo.save("cutout.png")',
    ]


def photo_command(photo: Photo) -> tuple[str, str]:
    """The command line that makes the same mask; or why no command can."""
    source, prompts = photo.source, photo.prompts()
    if source["kind"] == "example":
        return "", "the photo comes with a library and is not a file; use the Python code."
    if len(photo.objects()) > 1:
        return "", "the command cuts out one object; use the Python code."
    words = ["evencut", "segment", _as_argument(source["name"])]
    for prompt in prompts:
        if prompt.kind == "box":
            words += ["--box", ",".join(map(str, prompt.box))]
        elif len(prompts) > 1:
            return "", "clicks and strokes in turn are more than the command says; use the Python code."
        else:
            x, y = prompt.points[0]
            words += ["--click", f"{round(x)},{round(y)}"]
    return shlex.join([*words, "-o", "mask.png", "--cutout", "cutout.png"]), ""


def _as_argument(name: str) -> str:
    """A file's name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name
