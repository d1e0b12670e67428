"""The Python code and the command line that make exactly the result on the page.

The code follows the steps of `methods.fit_labels` and `sheets.read_sheet`; a test runs it and compares the labels.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from .methods import PHOTOS, POINTS, Method, estimator
from .prompts import Photo, code_lines
from .sessions import Correction, Run
from .tables import Sheet

_SHOWN_ROWS = 12


def points_code(table: Sheet, run: Run) -> str:
    """A Python file that makes the labels of a run and writes them to labels.csv."""
    from evencut import __version__

    encoded = _is_encoded(table, run)
    has_gaps = bool(run.facts.get("n_missing"))
    body = [*_reading(table, run), ""]
    if has_gaps and encoded:
        body += ["complete = np.zeros(table.n_rows, dtype=bool)", "complete[table.rows] = True  # the others have gaps"]
    elif has_gaps:
        body += ["complete = np.isfinite(X).all(axis=1)  # rows with gaps are labelled -1", "X = X[complete]"]
    if run.facts.get("counts"):
        body += [
            "totals = X.sum(axis=1, keepdims=True)  # counts are log-normalised",
            "X = np.log1p(X / np.where(totals > 0, totals, 1) * np.median(totals))",
        ]
    if run.method is None:
        body += [f"# The labels are those of the column {run.facts.get('column')!r}; nothing was clustered."]
        head = [f'"""Made by evencut studio {__version__}."""', "", "import numpy as np", _reader(table, encoded)]
        return "\n".join([*head, "", *body, ""])
    method = Method(**run.method)
    imports, call = _estimator_code(method)
    body += _held_lines(run.corrections, table.n_rows, has_gaps)
    held = bool(run.corrections)
    body += [f"model = {call}", *_fitting_lines(method, len(run.labels) - run.facts["n_missing"], held)]
    if numbers := _numbers_of_before(run):
        body.append(f"labels = np.array({[*numbers, -1]})[labels]  # the numbers of the clusters before")
    for edit in run.edits:
        body += edit.code()
    if any(edit.kind == "split" for edit in run.edits) and "from evencut import EvenCut" not in imports:
        imports.append("from evencut import EvenCut")
    if has_gaps:
        body += ["found = np.full(len(complete), -1)", "found[complete] = labels", "labels = found"]
    body += ['np.savetxt("labels.csv", labels, fmt="%d", header="label", comments="")']
    imports += [line for line in (_reader(table, encoded),) if line]
    head = [f'"""Made by evencut studio {__version__}: makes the same labels again."""', "", "import numpy as np"]
    return "\n".join([*head, *sorted(imports, key=lambda line: line.split()[1]), "", *body, ""])


def _is_encoded(table: Sheet, run: Run) -> bool:
    """Whether words, dates or filled gaps were made numbers, which `read_table` does."""
    known = {column.name: column.holds for column in table.columns}
    return run.facts.get("missing", "drop") != "drop" or any(known.get(name) != "numbers" for name in run.columns)


def _reader(table: Sheet, encoded: bool) -> str:
    """The import that reading the points needs."""
    if table.source["kind"] == "example":
        return POINTS[table.source["example"]].code[0]
    if table.source["kind"] == "variable" and not encoded:
        return ""
    reader = "read_table" if encoded else "read_columns"
    return f"from evencut.io import {'Source, ' if _file_options(table.source) else ''}{reader}"


def _file_options(source: dict[str, Any]) -> str:
    """How a file is read, if not as its name says."""
    options = {"encoding": "latin-1"} if source.get("written") == "latin-1" else {}
    options |= {"sheet": source["sheet"]} if len(source.get("sheets") or ()) > 1 else {}
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def _reading(table: Sheet, run: Run) -> list[str]:
    source = table.source
    if source["kind"] == "example":
        return list(POINTS[source["example"]].code[1:])
    if source["kind"] == "variable":
        return _from_variable(table, run)
    options, name = _file_options(source), repr(source["name"])
    arguments = [f"Source({name}, {options})" if options else name, f"columns={run.columns!r}", "guess=True"]
    if source["kind"] == "csv":
        arguments.append(f"header={source['header']}")
    if source.get("delimiter") and source.get("written") not in ("blanks", "excel"):
        arguments += [f"separator={source['delimiter']!r}", f"decimal={source['decimal']!r}"]
    if _is_encoded(table, run):
        arguments.append(f"missing={run.facts.get('missing', 'drop')!r}{_categories(table, run)}")
        return [f"table = read_table({', '.join(arguments)})", "X = table.values"]
    return [
        f"columns = read_columns({', '.join(arguments)})",
        "X = np.column_stack([column.numbers for column in columns])",
    ]


def _categories(table: Sheet, run: Run) -> str:
    """The option that names columns whose numbers are categories."""
    named = [name for name in table.source.get("categories") or () if name in run.columns]
    return f", categories={named!r}" if named else ""


def _from_variable(table: Sheet, run: Run) -> list[str]:
    """The points out of the user's own variable."""
    name, holder, columns = table.source["name"], table.source["holder"], run.columns
    positions = [[column.name for column in table.columns].index(column) for column in columns]
    if _is_encoded(table, run):
        write = {"pandas": f"{name}.to_parquet(file)", "polars": f"{name}.write_parquet(file)"}
        write |= {"pyarrow": f"pyarrow.parquet.write_table({name}, file)", "numpy": f"np.save(file, {name})"}
        file = "points.npy" if holder == "numpy" else "points.parquet"
        numbers = [str(position + 1) for position in positions]
        arguments = f"columns={numbers!r}, guess=True, missing={run.facts['missing']!r}{_categories(table, run)}"
        return [
            *(["import pyarrow.parquet"] if holder == "pyarrow" else []),
            f"file = {file!r}",
            write[holder],
            f"table = read_table(file, {arguments})",
            "X = table.values",
        ]
    takes = {
        "pandas": f"{name}[{columns!r}].to_numpy(dtype=float, na_value=np.nan)",
        "polars": f"{name}.select({columns!r}).cast(float).to_numpy()",
        "pyarrow": f"np.column_stack([{name}[column].to_numpy() for column in {columns!r}]).astype(float)",
        "numpy": f"np.asarray({name}, dtype=float)[:, {positions!r}]",
    }
    return [f"# {name} is your own variable.", f"X = {takes[holder]}"]


def _estimator_code(method: Method) -> tuple[list[str], str]:
    """The imports, and the call that builds the estimator."""
    model = estimator(method)
    name, chosen, usual = type(model).__name__, model.get_params(deep=False), type(model)().get_params(deep=False)
    arguments = [repr(chosen.pop("n_clusters"))] if "n_clusters" in chosen else []
    arguments += [f"{option}={value!r}" for option, value in chosen.items() if value != usual[option]]
    if method.tool in ("evencut", "kernel"):
        imports = [f"from evencut import {name}"]
        imports += [f"from evencut.kernels import {type(model.kernel).__name__}"] if method.tool == "kernel" else []
    else:
        imports = [f"from sklearn.cluster import {name}"]
        imports += ["from evencut.points import feature_scale"] if method.scale else []
    return imports, f"{name}({', '.join(arguments)})".replace("'", '"')


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
    method, facts = Method(**run.method), run.facts
    if why := _why_no_command(table, run, method):
        return "", f"{why}; use the Python code."
    lines, name = _file_lines(table)
    words = ["evencut", "cluster", name, "-k", str(method.n_clusters)]
    if facts["n_missing"] or facts.get("missing", "drop") != "drop":
        words += ["--missing", facts.get("missing", "drop")]
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
    words += ["--seed", str(method.seed), "-o", "labels.csv"]
    return "\n".join([*lines, shlex.join(words)]), ""


def _why_no_command(table: Sheet, run: Run, method: Method) -> str | None:
    """What of a clustering the command cannot do."""
    facts = run.facts
    n_complete = len(run.labels) - facts["n_missing"]
    reasons = {
        f"the command clusters with evencut only, not with {method.tool}": method.tool not in ("evencut", "kernel"),
        "the command does not log-normalise counts": facts.get("counts"),
        "the points are in a variable and not in a file": table.source["kind"] == "variable",
        "the clusters keep numbers of before, which the command does not know": _numbers_of_before(run),
        "the command has no option for numbers that are categories": _categories(table, run),
        "the command reads the first sheet of a workbook": len(table.source.get("sheets") or ()) > 1,
        "the command merges and splits no clusters": run.edits,
        "the command takes no corrections by hand": run.corrections,
        "a dense kernel was fitted on a sample of the points": facts["n_fitted"] < n_complete,
        "the command has no option for this scaling": method.scale != "auto",
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def _numbers_of_before(run: Run) -> list[int]:
    """The numbers of the clusters 0, 1, ... of a fit, where they are others."""
    numbers = run.facts.get("numbers") or []
    return [] if numbers == list(range(len(numbers))) else numbers


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
        page = f", page={source['page']}" if source.get("page") else ""
        reading = [f"image = read_image({source['name']!r}{page})"]
    if any("np." in line for line in lines):
        imports.append("import numpy as np")
    head = [f'"""Made by evencut studio {__version__}: makes the same mask again."""', "", *imports]
    head += [f"from evencut.segmentation import {', '.join(used)}", "from PIL import Image", ""]
    return "\n".join([*head, *reading, *lines, *_writing(photo, objects), ""])


def _lines_of_objects(photo: Photo, objects: list[int]) -> list[str]:
    """Each object cut out by itself; later ones lie over earlier ones."""
    lines = ["labels = np.ones(image.shape[:2], dtype=np.uint8)  # 1: background"]
    for place, number in enumerate(objects):
        name = photo.names.get(number, f"object {number}")
        lines += [*code_lines(photo.prompts(number)), f"labels[result.mask] = {place + 2}  # {name!r}"]
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
    if source.get("page"):
        return "", "the command takes the first page of a stack; use the Python code."
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
