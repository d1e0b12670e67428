"""`evencut cluster FILE -k 3 -o labels.csv`, and `evencut predict MODEL FILE`: points in, a file of labels out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evencut.cli import options, outputs
from evencut.cli.console import UserError, as_user_errors, progress, say
from evencut.cli.options import CPU, CRITERIA, EQUALIZE, KERNELS, METRICS, MISSING, SOLVERS, one_of

if TYPE_CHECKING:
    from evencut.estimators import EvenCut, KernelClustering, LandmarkClustering
    from evencut.io import Table


def cluster(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILES",
            help="CSV, JSON (both also compressed), Excel, Parquet, Feather, NPY or NPZ, a point in each row; - reads "
            "CSV from standard input. Several files with the same columns are one table; labels name file and row.",
        ),
    ],
    n_clusters: Annotated[
        Any,
        Option(
            "--n-clusters", "-k", parser=options.whole_number_or_auto("-k"), metavar="K|auto",
            help="Number of clusters; auto chooses it.",
        ),
    ] = "auto",
    output: options.Output = "-",
    append: options.Append = False,
    save: Annotated[str | None, Option(metavar="MODEL.skops", help="Also save the model, for evencut predict.")] = None,
    like: Annotated[
        str | None,
        Option(
            metavar="MODEL.skops",
            help="A saved model: its method clusters the new points, and clusters that it has keep their numbers.",
        ),
    ] = None,
    plot: Annotated[str | None, Option(metavar="FILE", help="Also draw the clusters, as .png, .pdf or .svg.")] = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    header: options.Header = None,
    key: options.Key = None,
    missing: options.Missing = MISSING[-1],
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    standardize: options.Standardize = False,
    min_size: Annotated[int | None, options.number_of("--min-size", 1, "Lower limit on the rows of a cluster.")] = None,
    max_size: Annotated[int | None, options.number_of("--max-size", 1, "Upper limit on the rows of a cluster.")] = None,
    metric: Annotated[
        str, one_of("--metric", "How points are compared: ", METRICS, " precomputed reads a table of distances.")
    ] = "euclidean",
    kernel: Annotated[
        str | None,
        one_of("--kernel", "Minimise one criterion on one kernel instead: ", KERNELS, registry="kernels.KERNELS"),
    ] = None,
    n_neighbors: Annotated[str | None, Option(metavar="N", help="Neighbours of the kernel [its own].")] = None,
    bandwidth: Annotated[
        str | None, Option(metavar="H", help="Bandwidth of the kernel: a number, scott, silverman or median [its own].")
    ] = None,
    parameter: Annotated[
        list[str] | None, Option(metavar="NAME=VALUE", help="Another parameter of the kernel; may be repeated.")
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
        str | None, one_of("--solver", "With --kernel or --landmarks: ", SOLVERS, " [auto]", registry="solvers.SOLVERS")
    ] = None,
    landmarks: Annotated[
        str | None,
        Option(metavar="P|auto", help="Cluster P landmarks (or auto), in blocks: for data larger than memory."),
    ] = None,
    scheduler: Annotated[
        str | None, Option(metavar="ADDRESS", help="With --landmarks: Dask scheduler whose workers do the work.")
    ] = None,
    device: Annotated[
        str, Option(metavar="cpu|cuda", help="Device to cluster on: cpu, cuda, or cuda:1 for the second GPU.")
    ] = CPU,
    seed: options.Seed = 0,
    n_jobs: Annotated[int | None, options.number_of("--n-jobs", -1, "Threads to use; -1 uses all cores.")] = None,
) -> None:
    """Cluster the points in a file, or in several."""
    from evencut.cli.cluster_files import cluster_blocks, is_one_table
    from evencut.estimators import EvenCut, LandmarkClustering
    from evencut.io import Source, check_output_format
    from evencut.tensors import to_array

    files = options.file_names(files)
    if n_jobs == 0:
        raise UserError("--n-jobs 0 would do nothing; give at least 1, or -1 for all cores.")
    named = {"criterion": criterion, "equalize": equalize, "solver": solver}
    problem: dict[str, Any] = {name: None if text == "none" else text for name, text in named.items() if text}
    of_kernel = {"kernel": kernel, "n_neighbors": n_neighbors, "bandwidth": bandwidth, "parameter": parameter}
    limits = {"min_size": min_size, "max_size": max_size}
    estimator: EvenCut | KernelClustering | LandmarkClustering
    saved = None
    if device != CPU:
        _check_unused(f"--device {device}", **limits)
    if like is not None:
        _check_unused("--like", landmarks=landmarks, **of_kernel, **problem, columns=columns, drop=drop)
        _check_unused("--like", standardize=standardize, device=device != CPU, metric=metric != "euclidean", **limits)
        saved = outputs.load_model(like)
        if not hasattr(saved.model, "refit"):
            raise UserError(f"{like} holds a {type(saved.model).__name__}, whose clusters cannot be carried on.")
    if landmarks is not None:
        _check_unused("--landmarks", **of_kernel, **limits, device=device != CPU)
        # What only a table in memory allows.
        as_table: dict[str, Any] = {"plot": plot, "key": key, "header": header is not None, "append": append}
        as_table |= {"decimal": decimal, "drop": drop, "missing": missing != MISSING[-1]}
        estimator = LandmarkClustering(n_landmarks=options.whole_number_or_auto("--landmarks")(landmarks), **problem)
        estimator.set_params(metric=metric, n_jobs=n_jobs)
        if scheduler is not None or not is_one_table(files, output, in_blocks=not any(as_table.values())):
            _check_unused("files that are read in blocks", **as_table)
            estimator.set_params(n_clusters=n_clusters, random_state=seed, scale="standard" if standardize else "auto")
            labels = cluster_blocks(files, output, estimator, options.column_list(columns), scheduler, save)
            if labels is not None:
                outputs.write_labels(output, labels)
                _say_done(labels, "rows", output, save)
            return
    elif scheduler is not None:
        raise UserError(f"--scheduler {scheduler} needs --landmarks; --landmarks auto chooses their number.")
    else:
        estimator = _model(kernel, problem, {"n_neighbors": n_neighbors, "bandwidth": bandwidth}, parameter or [])
        estimator.set_params(**limits)
    estimator.set_params(n_clusters=n_clusters, metric=metric, random_state=seed, n_jobs=n_jobs)
    if saved is not None:
        estimator = saved.model.set_params(n_jobs=n_jobs)
        if n_clusters != "auto":
            estimator.set_params(n_clusters=n_clusters)
    sources = [Source(name, keep=append, encoding=encoding) for name in files]
    options.check_device(device)
    check_output_format(output)
    if plot is not None:
        outputs.check_picture(plot)
    outputs.check_outputs(files, output, plot=plot, model=save)
    with progress() as step:
        table = options.read_points(
            step, sources, columns=options.column_list(columns), drop=options.column_lists(drop), header=header,
            key=key, missing=missing, decimal=decimal, like=None if saved is None else saved.preparation,
        )  # fmt: skip
        if saved is None and standardize:
            estimator.set_params(scale="standard")
        elif saved is None and table.preparation.divisors is not None and not isinstance(estimator, EvenCut):
            # Numbers beside words or dates are on one scale already; EvenCut compares scales by itself, as for frames.
            estimator.set_params(scale=None)
        X = table.values
        if len(X) < 2:
            raise UserError(f"{sources[0].name} has only one row to cluster; give at least two.")
        step(f"clustering {len(X)} points in {X.shape[1]} dimensions")
        with as_user_errors():
            fit = estimator.fit if saved is None else saved.model.refit
            labels = to_array(fit(options.on_device(X, device)).labels_)
        step(f"writing {output}")
        outputs.write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
        if save is not None:
            outputs.save_model(save, estimator, table.preparation)
        if plot is not None:
            step(f"drawing {plot}")
            _draw(plot, table, labels)
    if saved is not None:
        say(str(saved.model.changes_))
    _say_done(labels, "points", output, save, plot)


def _say_done(labels: Any, what: str, *written: str | None) -> None:
    files = " and ".join(name for name in written if name and name != "-")
    say(f"{len(labels)} {what}, {outputs.cluster_sizes(labels)}" + (f"; wrote {files}" if files else ""))


def _model(
    kernel: str | None, problem: dict[str, Any], common: dict[str, str | None], assigned: list[str]
) -> EvenCut | KernelClustering:
    """The consensus, or the criterion on the kernel that was named."""
    from evencut.estimators import EvenCut, KernelClustering

    settings = {name: text for name, text in common.items() if text is not None}
    if kernel is None:
        for name in (*problem, *settings, *["parameter"][: len(assigned)]):
            raise UserError(
                f"--{name.replace('_', '-')} is for one kernel; name it with --kernel, such as --kernel "
                "shared_neighbors, or leave the option out."
            )
        return EvenCut()
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


def _check_unused(context: str, **unused: Any) -> None:
    """Raise for options that mean nothing beside others."""
    for name, value in unused.items():
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
    outputs.save_figure(figure, plot)


def predict(
    model: Annotated[str, Argument(metavar="MODEL.skops", help="What evencut cluster --save wrote.")],
    files: Annotated[
        list[str],
        Argument(metavar="FILES", help="New points, in any format of evencut cluster; columns are found by name."),
    ],
    output: options.Output = "-",
    append: options.Append = False,
    header: options.Header = None,
    key: options.Key = None,
    missing: options.Missing = MISSING[-1],
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
) -> None:
    """Assign new points to the clusters of a saved model."""
    from evencut.io import Source, check_output_format

    files = options.file_names(files)
    sources = [Source(name, keep=append, encoding=encoding) for name in files]
    check_output_format(output)
    outputs.check_distinct(model=model, output=output)
    outputs.check_outputs(files, output)
    with progress() as step:
        step(f"reading {model}")
        saved = outputs.load_model(model)
        table = options.read_points(
            step, sources, header=header, key=key, missing=missing, decimal=decimal, like=saved.preparation
        )
        step(f"labelling {len(table.values)} points")
        with as_user_errors():
            labels = saved.model.predict(table.values)
        outputs.write_labels(output, labels, sources=sources if append else (), table=table, header=header, key=key)
    _say_done(labels, "points", output)
