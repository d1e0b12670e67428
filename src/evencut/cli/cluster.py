"""`evencut cluster FILE -k 3 -o labels.csv`: a file of points in, a file of labels out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from evencut.affinity import METRICS
from evencut.cli.choose_device import CPU, check_device, on_device
from evencut.cli.cluster_files import cluster_blocks, is_one_table, is_pattern
from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, check_name, library_errors_are_the_users
from evencut.cli.labels_out import cluster_sizes, write_labels
from evencut.cli.model_files import Scaling, check_model_file, save_model
from evencut.cli.options import Seed, names, number_or_name, whole_number, whole_number_or_auto
from evencut.cli.outputs import check_distinct, check_writable
from evencut.cli.pictures import check_picture, save_figure
from evencut.cli.table_options import Columns, Decimal, Header, Key, Missing, Standardize, column_list, tell
from evencut.criteria import CRITERIA
from evencut.estimators import KernelClustering, LandmarkClustering
from evencut.io import MISSING, Source, Table, check_output_format, read_table
from evencut.kernels import KERNELS
from evencut.solvers import SOLVERS
from evencut.tensors import to_array

__all__ = ["cluster"]

_EQUALIZE = ("none", "weights", "exact")
_KERNELS = ("auto", *KERNELS)
_DEFAULTS = KernelClustering().get_params(deep=False)


def cluster(
    file: Annotated[
        str,
        typer.Argument(
            help="CSV (also .gz, .zst), JSON lines, Parquet, Feather, NPY or NPZ, one row a point; - reads CSV from "
            "standard input. With --landmarks also many files, like 'data/*.parquet'."
        ),
    ],
    n_clusters: Annotated[
        Any,
        typer.Option(
            "--n-clusters",
            "-k",
            parser=whole_number_or_auto("-k", 1),
            metavar="K|auto",
            help="Number of clusters; auto finds it.",
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
    append: Annotated[
        bool, typer.Option("--append", help="Write the rows of the input with their labels, not labels alone.")
    ] = False,
    save: Annotated[
        str | None, typer.Option(metavar="MODEL.skops", help="Also save the model, for evencut predict.")
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Also draw the clusters, as .png, .pdf or .svg.")] = None,
    columns: Columns = None,
    header: Header = None,
    key: Key = None,
    missing: Missing = MISSING[0],
    decimal: Decimal = None,
    standardize: Standardize = False,
    metric: Annotated[
        str, typer.Option(help=f"How points are compared: {names(METRICS)} precomputed reads a table of distances.")
    ] = _DEFAULTS["metric"],
    kernel: Annotated[
        str, typer.Option(help=f"{names(_KERNELS)} auto compares several scales and takes the best.")
    ] = _DEFAULTS["kernel"],
    n_neighbors: Annotated[
        int | None,
        typer.Option(parser=whole_number("--n-neighbors", 1), metavar="N", help="Neighbours of the kernel [its own]."),
    ] = None,
    bandwidth: Annotated[
        str | None, typer.Option(help="Bandwidth of the kernel: a number, scott, silverman or median [its own].")
    ] = None,
    criterion: Annotated[str, typer.Option(help=names(CRITERIA))] = _DEFAULTS["criterion"],
    equalize: Annotated[str, typer.Option(help=f"Even the density out: {names(_EQUALIZE)}")] = "none",
    solver: Annotated[
        str, typer.Option(help=f"{names(SOLVERS)} auto takes the one that suits the size.")
    ] = _DEFAULTS["solver"],
    landmarks: Annotated[
        str | None,
        typer.Option(metavar="P|auto", help="Cluster P landmarks (or auto), block by block: for data beyond memory."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="With --landmarks: Dask scheduler whose workers do it.")
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="cpu|cuda", help="Where to cluster; a GPU is cuda, or cuda:1 for the second.")
    ] = CPU,
    seed: Seed = 0,
    n_jobs: Annotated[
        int | None,
        typer.Option(parser=whole_number("--n-jobs", -1), metavar="N", help="Threads to use; -1 takes all cores."),
    ] = None,
) -> None:
    """Cluster the points in a file."""
    estimator: KernelClustering | LandmarkClustering = _estimator(kernel, criterion, equalize, solver, n_jobs)
    check_name("--metric", metric, METRICS)
    estimator.set_params(metric=metric)
    check_name("--missing", missing, MISSING)
    if landmarks is not None:
        _check_unused("--landmarks", kernel=kernel != _DEFAULTS["kernel"], n_neighbors=n_neighbors, bandwidth=bandwidth)
        _check_unused("--landmarks", device=device != CPU)
        # What only a table in memory allows.
        as_table = {
            "plot": plot,
            "key": key,
            "header": header is not None,
            "append": append,
            "decimal": decimal,
            "missing": missing != MISSING[0],
        }
        estimator = _landmark_model(estimator, landmarks)
        if scheduler is not None or not is_one_table(file, output, in_blocks=not any(as_table.values())):
            _check_unused("files that are read block by block", **as_table)
            estimator.set_params(n_clusters=n_clusters, random_state=seed, scale="standard" if standardize else "auto")
            labels = cluster_blocks(file, output, estimator, column_list(columns), scheduler, save)
            if labels is not None:
                write_labels(output, labels)
                _say_done(labels, "rows", output, *([] if save is None else [save]))
            return
    elif scheduler is not None or is_pattern(file):
        given = f"--scheduler {scheduler}" if scheduler is not None else f"{file} stands for several files and"
        raise UserError(f"{given} needs --landmarks; --landmarks auto chooses their number.")
    else:
        _set_kernel_parameters(estimator, kernel, n_neighbors=n_neighbors, bandwidth=bandwidth)
    estimator.set_params(n_clusters=n_clusters, random_state=seed)
    source = Source(file, keep=append)
    check_device(device)
    _check_files(file, output, plot, save)
    with progress() as step:
        step(f"reading {source.name}")
        table = read_table(
            source, columns=column_list(columns), header=header, key=key, missing=missing, decimal=decimal
        )
        tell(table)
        scaling = Scaling.of(table.values) if standardize else None
        X = table.values if scaling is None else scaling.apply(table.values)
        step(f"clustering {len(X)} points in {X.shape[1]} dimensions")
        with library_errors_are_the_users():
            labels = to_array(estimator.fit(on_device(X, device)).labels_)
        step(f"writing {output}")
        write_labels(output, labels, source=source if append else None, table=table, header=header, key=key)
        if save is not None:
            save_model(save, estimator, table.preparation, scaling)
        if plot is not None:
            step(f"drawing {plot}")
            _draw(plot, table, labels)
    _say_done(labels, "points", *[name for name in (output, save, plot) if name is not None])


def _say_done(labels: Any, what: str, *written: str) -> None:
    files = " and ".join(name for name in written if name != "-")
    say(f"{len(labels)} {what}, {cluster_sizes(labels)}" + (f"; wrote {files}" if files else ""))


def _estimator(kernel: str, criterion: str, equalize: str, solver: str, n_jobs: int | None) -> KernelClustering:
    check_name("--kernel", kernel, _KERNELS)
    check_name("--criterion", criterion, CRITERIA)
    check_name("--equalize", equalize, _EQUALIZE)
    check_name("--solver", solver, SOLVERS)
    if n_jobs == 0:
        raise UserError("--n-jobs 0 would do nothing; give at least 1, or -1 for all cores.")
    return KernelClustering(
        kernel="auto" if kernel == "auto" else KERNELS[kernel](),
        criterion=criterion,
        equalize=None if equalize == "none" else equalize,
        solver=solver,
        n_jobs=n_jobs,
    )


def _check_unused(beside: str, **given: Any) -> None:
    """Raise for options that mean nothing beside others."""
    for name, value in given.items():
        if value:
            raise UserError(f"--{name.replace('_', '-')} does not go with {beside}; leave one of them out.")


def _landmark_model(like: KernelClustering, landmarks: str) -> LandmarkClustering:
    return LandmarkClustering(
        n_landmarks=whole_number_or_auto("--landmarks", 1)(landmarks),
        criterion=like.criterion,
        equalize=like.equalize,
        solver=like.solver,
        n_jobs=like.n_jobs,
        metric=like.metric,
    )


def _check_files(file: str, output: str, plot: str | None, save: str | None) -> None:
    """Find out now, not after minutes of work, whether the files can be written."""
    check_output_format(output)
    check_distinct(input=file, output=output, plot=plot, model=save)
    if output != "-":
        check_writable(output)
    if plot is not None:
        check_picture(plot)
    if save is not None:
        check_model_file(save)


def _set_kernel_parameters(estimator: Any, kernel: str, **given: Any) -> None:
    known = {} if kernel == "auto" else estimator.kernel.get_params()
    for name, value in given.items():
        if value is None:
            continue
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it has no parameters"
            raise UserError(f"--{name.replace('_', '-')} {value} does not fit --kernel {kernel}: {takes}.")
        estimator.set_params(**{f"kernel__{name}": number_or_name(value) if name == "bandwidth" else value})


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
