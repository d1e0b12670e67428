"""`evencut cluster FILE -k 3 -o labels.csv`, and `evencut predict MODEL FILE`: points in, a file of labels out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evencut.cli.console import UserError, as_user_errors, progress, say
from evencut.cli.options import (
    CPU,
    CRITERIA,
    EQUALIZE,
    KERNELS,
    METRICS,
    MISSING,
    SOLVERS,
    Append,
    Columns,
    Decimal,
    Drop,
    Encoding,
    Header,
    Key,
    Missing,
    Seed,
    Standardize,
    check_device,
    column_list,
    column_lists,
    file_names,
    number_of,
    on_device,
    one_of,
    open_sources,
    print_notices,
    source_names,
    whole_number_or_auto,
)
from evencut.cli.outputs import (
    check_distinct,
    check_outputs,
    check_picture,
    check_writable,
    cluster_sizes,
    load_model,
    save_figure,
    save_model,
    write_labels,
)

if TYPE_CHECKING:
    from evencut.estimators import EvenCut, KernelClustering, LandmarkClustering
    from evencut.io import Table


def cluster(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES",
            help="CSV, JSON (both also compressed), Excel, Parquet, Feather, NPY or NPZ, a point in each row; - reads "
            "CSV from standard input. Several files with the same columns are one table; labels name file and row.",
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
    ] = "auto",
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Labels, as .csv, .jsonl, .npy, .parquet or .feather; - is standard output; for landmarks, a folder.",
        ),
    ] = "-",
    append: Append = False,
    save: Annotated[
        str | None, typer.Option(metavar="MODEL.skops", help="Also save the model, for evencut predict.")
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL.skops",
            help="A saved model: its method clusters the new points, and clusters that it has keep their numbers.",
        ),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also draw the clusters, as .png, .pdf or .svg.")
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    header: Header = None,
    key: Key = None,
    missing: Missing = MISSING[-1],
    decimal: Decimal = None,
    encoding: Encoding = None,
    standardize: Standardize = False,
    metric: Annotated[
        str, one_of("--metric", "How points are compared: ", METRICS, " precomputed reads a table of distances.")
    ] = "euclidean",
    kernel: Annotated[
        str | None,
        one_of("--kernel", "Minimise one criterion on one kernel instead: ", KERNELS, registry="kernels.KERNELS"),
    ] = None,
    n_neighbors: Annotated[str | None, typer.Option(metavar="N", help="Neighbours of the kernel [its own].")] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(metavar="H", help="Bandwidth of the kernel: a number, scott, silverman or median [its own]."),
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another parameter of the kernel; may be repeated.")
    ] = None,
    criterion: Annotated[
        str | None,
        one_of(
            "--criterion", "With --kernel or --landmarks: ", CRITERIA, " [normalized_cut]", registry="criteria.CRITERIA"
        ),
    ] = None,
    equalize: Annotated[
        str | None, one_of("--equalize", "With --kernel or --landmarks, equalise the density: ", EQUALIZE, " [none]")
    ] = None,
    solver: Annotated[
        str | None,
        one_of("--solver", "With --kernel or --landmarks: ", SOLVERS, " [auto]", registry="solvers.SOLVERS"),
    ] = None,
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
    from evencut.cli.cluster_files import cluster_blocks, is_one_table
    from evencut.estimators import LandmarkClustering
    from evencut.io import check_output_format, read_table
    from evencut.tensors import to_array

    files = file_names(files)
    if n_jobs == 0:
        raise UserError("--n-jobs 0 would do nothing; give at least 1, or -1 for all cores.")
    named = {"criterion": criterion, "equalize": equalize, "solver": solver}
    problem: dict[str, Any] = {
        name: None if text == "none" else text for name, text in named.items() if text is not None
    }
    estimator: EvenCut | KernelClustering | LandmarkClustering
    saved = None
    if like is not None:
        _check_unused("--like", landmarks=landmarks, kernel=kernel, n_neighbors=n_neighbors, bandwidth=bandwidth)
        _check_unused("--like", parameter=parameter, **problem, columns=columns, drop=drop, standardize=standardize)
        _check_unused("--like", device=device != CPU, metric=metric != "euclidean")
        saved = load_model(like)
        if not hasattr(saved.model, "refit"):
            raise UserError(f"{like} holds a {type(saved.model).__name__}, whose clusters cannot be carried on.")
    if landmarks is not None:
        _check_unused("--landmarks", kernel=kernel, n_neighbors=n_neighbors, bandwidth=bandwidth, parameter=parameter)
        _check_unused("--landmarks", device=device != CPU)
        # What only a table in memory allows.
        as_table: dict[str, Any] = {"plot": plot, "key": key, "header": header is not None, "append": append}
        as_table |= {"decimal": decimal, "drop": drop, "missing": missing != MISSING[-1]}
        estimator = LandmarkClustering(n_landmarks=whole_number_or_auto("--landmarks", 1)(landmarks), **problem)
        estimator.set_params(metric=metric, n_jobs=n_jobs)
        if scheduler is not None or not is_one_table(files, output, in_blocks=not any(as_table.values())):
            _check_unused("files that are read block by block", **as_table)
            estimator.set_params(n_clusters=n_clusters, random_state=seed, scale="standard" if standardize else "auto")
            labels = cluster_blocks(files, output, estimator, column_list(columns), scheduler, save)
            if labels is not None:
                write_labels(output, labels)
                _say_done(labels, "rows", output, *([] if save is None else [save]))
            return
    elif scheduler is not None:
        raise UserError(f"--scheduler {scheduler} needs --landmarks; --landmarks auto chooses their number.")
    else:
        estimator = _model(kernel, problem, {"n_neighbors": n_neighbors, "bandwidth": bandwidth}, parameter or [])
    estimator.set_params(n_clusters=n_clusters, metric=metric, random_state=seed, n_jobs=n_jobs)
    if saved is not None:
        estimator = saved.model.set_params(n_jobs=n_jobs)
        if n_clusters != "auto":
            estimator.set_params(n_clusters=n_clusters)
    sources = open_sources(files, keep=append, encoding=encoding)
    check_device(device)
    check_output_format(output)
    if plot is not None:
        check_picture(plot)
    check_outputs([source.path for source in sources], output, plot=plot, model=save)
    with progress() as step:
        step(f"reading {source_names(sources)}")
        table = read_table(
            sources, columns=column_list(columns), drop=column_lists(drop), header=header, key=key, missing=missing,
            decimal=decimal, like=None if saved is None else saved.preparation,
        )  # fmt: skip
        print_notices(table)
        if saved is None and (standardize or table.preparation.divisors is not None):
            # Numbers beside words or dates are on one scale already.
            estimator.set_params(scale="standard" if standardize else None)
        X = table.values
        step(f"clustering {len(X)} points in {X.shape[1]} dimensions")
        with as_user_errors():
            fit = estimator.fit if saved is None else saved.model.refit
            labels = to_array(fit(on_device(X, device)).labels_)
        step(f"writing {output}")
        write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
        if save is not None:
            save_model(save, estimator, table.preparation)
        if plot is not None:
            step(f"drawing {plot}")
            _draw(plot, table, labels)
    if saved is not None:
        say(str(saved.model.changes_))
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
        from evencut.estimators import EvenCut

        return EvenCut()
    from evencut.estimators import KernelClustering
    from evencut.kernels import KERNELS as KERNEL_CLASSES

    for text in assigned:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--parameter {text} is not an assignment; write --parameter NAME=VALUE.")
        settings[name] = value
    known = {setting.name: setting for setting in KERNEL_CLASSES[kernel].settings}
    values = {}
    for name, text in settings.items():
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it has no parameters"
            raise UserError(f"{_option(name)} {text} does not fit --kernel {kernel}: {takes}.")
        try:
            values[name] = known[name].read(text)
        except ValueError as error:
            raise UserError(str(error)) from None
    return KernelClustering(kernel=KERNEL_CLASSES[kernel](**values), **problem)


def _option(name: str) -> str:
    """The option that sets a parameter of a kernel."""
    return f"--{name.replace('_', '-')}" if name in ("n_neighbors", "bandwidth") else f"--parameter {name}"


def _check_unused(context: str, **options: Any) -> None:
    """Raise for options that mean nothing beside others."""
    for name, value in options.items():
        if value:
            raise UserError(f"--{name.replace('_', '-')} does not go with {context}; leave one of them out.")


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


def predict(
    model: Annotated[str, typer.Argument(metavar="MODEL.skops", help="What evencut cluster --save wrote.")],
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILES", help="New points, in any format of evencut cluster; columns are found by name."
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Labels, as .csv, .jsonl, .npy, .parquet or .feather; - is standard output.",
        ),
    ] = "-",
    append: Append = False,
    header: Header = None,
    key: Key = None,
    missing: Missing = MISSING[-1],
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Assign new points to the clusters of a saved model."""
    from evencut.io import check_output_format, read_table

    files = file_names(files)
    sources = open_sources(files, keep=append, encoding=encoding)
    check_output_format(output)
    for source in sources:
        check_distinct(model=model, input=source.path, output=output)
    if output != "-":
        check_writable(output)
    with progress() as step:
        step(f"reading {model}")
        saved = load_model(model)
        step(f"reading {source_names(sources)}")
        table = read_table(
            sources, header=header, key=key, missing=missing, decimal=decimal, like=saved.preparation
        )
        print_notices(table)
        step(f"labelling {len(table.values)} points")
        with as_user_errors():
            labels = saved.model.predict(table.values)
        write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
    say(f"{len(labels)} points, {cluster_sizes(labels)}" + (f"; wrote {output}" if output != "-" else ""))
