"""`evencut cluster FILE -k 3 -o labels.csv`: a file of points in, a file of labels out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from evencut.cli import table_options as tables
from evencut.cli.choose_device import CPU, check_device, on_device
from evencut.cli.cluster_files import cluster_blocks, is_one_table
from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, library_errors_are_the_users
from evencut.cli.labels_out import cluster_sizes, write_labels
from evencut.cli.model_files import check_places, save_model
from evencut.cli.options import Seed, number_of, one_of, whole_number_or_auto
from evencut.cli.pictures import check_picture, save_figure
from evencut.criteria import CRITERIA
from evencut.estimators import EvenCut, KernelClustering, LandmarkClustering
from evencut.io import MISSING, Table, check_output_format, read_table
from evencut.kernels import KERNELS
from evencut.neighbors import METRICS
from evencut.solvers import SOLVERS
from evencut.tensors import to_array

_EQUALIZE = ("none", "weights", "exact")


def cluster(
    files: Annotated[
        list[str],
        typer.Argument(
            help="CSV, JSON (both also compressed), Excel, Parquet, Feather, NPY or NPZ, a point in each row; - reads "
            "CSV from standard input. Several files with the same columns are one table; labels name file and row."
        ),
    ],
    n_clusters: Annotated[
        Any,
        typer.Option(
            "--n-clusters",
            "-k",
            parser=whole_number_or_auto("-k", 1),
            metavar="K|auto",
            help="Number of clusters; auto chooses it.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Labels, as .csv, .jsonl, .npy, .parquet or .feather; - is standard output; for landmarks, a folder.",
        ),
    ] = "-",
    append: tables.Append = False,
    save: Annotated[
        str | None, typer.Option(metavar="MODEL.skops", help="Also save the model, for evencut predict.")
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Also draw the clusters, as .png, .pdf or .svg.")] = None,
    columns: tables.Columns = None,
    header: tables.Header = None,
    key: tables.Key = None,
    missing: tables.Missing = MISSING[0],
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
    standardize: tables.Standardize = False,
    metric: Annotated[
        str, one_of("--metric", "How points are compared: ", METRICS, " precomputed reads a table of distances.")
    ] = "euclidean",
    kernel: Annotated[
        str | None, one_of("--kernel", "Minimise one criterion on one kernel instead of the consensus: ", KERNELS)
    ] = None,
    n_neighbors: Annotated[str | None, typer.Option(metavar="N", help="Neighbours of the kernel [its own].")] = None,
    bandwidth: Annotated[
        str | None, typer.Option(help="Bandwidth of the kernel: a number, scott, silverman or median [its own].")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another parameter of the kernel; may be repeated.")
    ] = None,
    criterion: Annotated[
        str | None, one_of("--criterion", "With --kernel or --landmarks: ", CRITERIA, " [normalized_cut]")
    ] = None,
    equalize: Annotated[
        str | None, one_of("--equalize", "With --kernel or --landmarks, equalise the density: ", _EQUALIZE, " [none]")
    ] = None,
    solver: Annotated[str | None, one_of("--solver", "With --kernel or --landmarks: ", SOLVERS, " [auto]")] = None,
    landmarks: Annotated[
        str | None,
        typer.Option(metavar="P|auto", help="Cluster P landmarks (or auto), in blocks: for data larger than memory."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="With --landmarks: Dask scheduler whose workers do the work.")
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="cpu|cuda", help="Device to cluster on: cpu, cuda, or cuda:1 for the second GPU.")
    ] = CPU,
    seed: Seed = 0,
    n_jobs: Annotated[int | None, number_of("--n-jobs", -1, "Threads to use; -1 uses all cores.")] = None,
) -> None:
    """Cluster the points in a file, or in several."""
    files = tables.file_names(files)
    if n_jobs == 0:
        raise UserError("--n-jobs 0 would do nothing; give at least 1, or -1 for all cores.")
    named = {"criterion": criterion, "equalize": equalize, "solver": solver}
    problem: dict[str, Any] = {key: None if one == "none" else one for key, one in named.items() if one is not None}
    estimator: EvenCut | KernelClustering | LandmarkClustering
    if landmarks is not None:
        _check_unused("--landmarks", kernel=kernel, n_neighbors=n_neighbors, bandwidth=bandwidth, parameter=parameter)
        _check_unused("--landmarks", device=device != CPU)
        # What only a table in memory allows.
        as_table = {"plot": plot, "key": key, "header": header is not None, "append": append, "decimal": decimal}
        as_table["missing"] = missing != MISSING[0]
        estimator = LandmarkClustering(n_landmarks=whole_number_or_auto("--landmarks", 1)(landmarks), **problem)
        estimator.set_params(metric=metric, n_jobs=n_jobs)
        if scheduler is not None or not is_one_table(files, output, in_blocks=not any(as_table.values())):
            _check_unused("files that are read block by block", **as_table)
            estimator.set_params(n_clusters=n_clusters, random_state=seed, scale="standard" if standardize else "auto")
            labels = cluster_blocks(files, output, estimator, tables.column_list(columns), scheduler, save)
            if labels is not None:
                write_labels(output, labels)
                _say_done(labels, "rows", output, *([] if save is None else [save]))
            return
    elif scheduler is not None:
        raise UserError(f"--scheduler {scheduler} needs --landmarks; --landmarks auto chooses their number.")
    else:
        estimator = _model(kernel, problem, {"n_neighbors": n_neighbors, "bandwidth": bandwidth}, parameter or [])
    estimator.set_params(n_clusters=n_clusters, metric=metric, random_state=seed, n_jobs=n_jobs)
    sources = tables.open_sources(files, keep=append, encoding=encoding)
    check_device(device)
    check_output_format(output)
    if plot is not None:
        check_picture(plot)
    check_places([source.path for source in sources], output, plot=plot, model=save)
    with progress() as step:
        step(f"reading {tables.names_of(sources)}")
        table = read_table(
            sources, columns=tables.column_list(columns), header=header, key=key, missing=missing, decimal=decimal
        )
        tables.tell(table)
        if standardize or table.preparation.divisors is not None:
            # Numbers beside words or dates are on one scale already.
            estimator.set_params(scale="standard" if standardize else None)
        X = table.values
        step(f"clustering {len(X)} points in {X.shape[1]} dimensions")
        with library_errors_are_the_users():
            labels = to_array(estimator.fit(on_device(X, device)).labels_)
        step(f"writing {output}")
        write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
        if save is not None:
            save_model(save, estimator, table.preparation)
        if plot is not None:
            step(f"drawing {plot}")
            _draw(plot, table, labels)
    _say_done(labels, "points", *[name for name in (output, save, plot) if name is not None])


def _say_done(labels: Any, what: str, *written: str) -> None:
    files = " and ".join(name for name in written if name != "-")
    say(f"{len(labels)} {what}, {cluster_sizes(labels)}" + (f"; wrote {files}" if files else ""))


def _model(
    kernel: str | None, problem: dict[str, Any], options: dict[str, str | None], assigned: list[str]
) -> EvenCut | KernelClustering:
    """The consensus, or the criterion on the kernel that was named."""
    settings = {name: text for name, text in options.items() if text is not None}
    if kernel is None:
        for name in (*problem, *settings, *["parameter"][: len(assigned)]):
            raise UserError(
                f"--{name.replace('_', '-')} is for one kernel; name it with --kernel, such as --kernel "
                "shared_neighbors, or leave the option out."
            )
        return EvenCut()
    for text in assigned:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--parameter {text} is not an assignment; write --parameter NAME=VALUE.")
        settings[name] = value
    known = {setting.name: setting for setting in KERNELS[kernel].settings}
    values = {}
    for name, text in settings.items():
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it has no parameters"
            raise UserError(f"{_option(name)} {text} does not fit --kernel {kernel}: {takes}.")
        try:
            values[name] = known[name].read(text)
        except ValueError as error:
            raise UserError(str(error)) from None
    return KernelClustering(kernel=KERNELS[kernel](**values), **problem)


def _option(name: str) -> str:
    """The option that sets a parameter of a kernel."""
    return f"--{name.replace('_', '-')}" if name in ("n_neighbors", "bandwidth") else f"--parameter {name}"


def _check_unused(beside: str, **options: Any) -> None:
    """Raise for options that mean nothing beside others."""
    for name, value in options.items():
        if value:
            raise UserError(f"--{name.replace('_', '-')} does not go with {beside}; leave one of them out.")


def _draw(plot: str, table: Table, labels: Any) -> None:
    from evencut.plotting import ClusterDisplay, make_figure

    figure, ax = make_figure()
    display = ClusterDisplay.from_labels(table.values, labels, ax=ax)
    if len(table.columns) == 1:
        # On a line; the height means nothing.
        display.ax_.set(xlabel=table.columns[0], yticks=[])
    elif len(table.columns) == 2:
        display.ax_.set(xlabel=table.columns[0], ylabel=table.columns[1])
    save_figure(figure, plot)
