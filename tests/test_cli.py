"""The command `evencut`: what it writes, what it says, and that a mistake costs one line and nothing else."""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import evencut
from evencut import EvenCut, KernelClustering
from evencut.cli import outputs
from evencut.datasets import make_clumped_moons, make_rings

EVENCUT = [sys.executable, "-m", "evencut"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(evencut.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "100"}


@pytest.fixture(scope="module")
def moons():
    return make_clumped_moons(120, random_state=0)


@pytest.fixture(scope="module")
def expected(moons):
    return EvenCut(2, random_state=0).fit_predict(moons[0])


def csv_of(X, header=None):
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    return "\n".join(([header] if header else []) + lines) + "\n"


def write_points(path, X):
    """Write points in the format the suffix names; `.tsv` has a header, `.txt` is separated by blanks."""
    match path.suffix:
        case ".csv":
            path.write_text(csv_of(X))
        case ".tsv":
            path.write_text(csv_of(X, "x,y").replace(",", "\t"))
        case ".txt":
            np.savetxt(path, X, fmt="%.17g")
        case ".npy":
            np.save(path, X)
        case ".npz":
            np.savez(path, X=X)
        case ".parquet":
            pa.parquet.write_table(pa.table({"x": X[:, 0], "y": X[:, 1]}), path)


def read_labels(path):
    header, *labels = Path(path).read_text().split()
    assert header == "label"
    return np.array(labels, dtype=int)


# What it does


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".npy", ".npz", ".parquet"])
def test_every_format_gives_the_labels_of_the_estimator(run, tmp_path, moons, expected, suffix):
    write_points(tmp_path / f"points{suffix}", moons[0])
    done = run("cluster", f"points{suffix}", "-k", 2, "-o", "labels.csv")
    assert (done.code, done.out) == (0, "")
    assert "120 points, clusters of " in done.err
    assert done.err.count("\n") == 1
    np.testing.assert_array_equal(read_labels("labels.csv"), expected)


@pytest.mark.parametrize("output", ["labels.npy", "labels.parquet", "-"])
def test_every_output_holds_the_labels(run, moons, expected, output):
    np.save("points.npy", moons[0])
    done = run("cluster", "points.npy", "-k", 2, "-o", output)
    assert done.code == 0
    if output == "labels.npy":
        labels = np.load(output)
    elif output == "labels.parquet":
        labels = pa.parquet.read_table(output)["label"].to_numpy()
    else:
        header, *lines = done.out.split()
        assert header == "label"
        labels = np.array(lines, dtype=int)
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize("header", [None, "first,second", '"a, b",c'])
def test_standard_input_with_or_without_a_header(run, moons, expected, header):
    done = run("cluster", "-", "-k", 2, "-o", "labels.csv", stdin=csv_of(moons[0], header))
    assert done.code == 0, done.err
    np.testing.assert_array_equal(read_labels("labels.csv"), expected)


def test_options_reach_the_estimator(run, moons):
    X, _ = moons
    np.save("points.npy", X)
    done = run(
        *("cluster", "points.npy", "-k", 3, "-o", "labels.csv", "--kernel", "knn", "--n-neighbors", 6, "--seed", 5),
        *("--criterion", "average_association", "--equalize", "exact", "--n-jobs", 1),
    )
    assert done.code == 0, done.err
    kernel = evencut.kernels.KNN(n_neighbors=6)
    model = KernelClustering(3, kernel=kernel, criterion="average_association", equalize="exact", random_state=5)
    np.testing.assert_array_equal(read_labels("labels.csv"), model.fit_predict(X))


@pytest.mark.parametrize("bandwidth", ["0.3", "scott"])
def test_the_bandwidth_is_a_number_or_a_rule(run, moons, bandwidth):
    X, _ = moons
    np.save("points.npy", X)
    done = run("cluster", "points.npy", "-k", 2, "-o", "labels.csv", "--kernel", "gaussian", "--bandwidth", bandwidth)
    assert done.code == 0, done.err
    kernel = evencut.kernels.Gaussian(bandwidth=0.3 if bandwidth == "0.3" else "scott")
    np.testing.assert_array_equal(
        read_labels("labels.csv"), KernelClustering(2, kernel=kernel, random_state=0).fit_predict(X)
    )


def test_columns_by_name_or_number_and_arrays_by_key(run, tmp_path, moons, expected):
    X, y = moons
    rows = "".join(f"p{i},{a!r},{t},{b!r}\n" for i, ((a, b), t) in enumerate(zip(X.tolist(), y.tolist())))
    (tmp_path / "people.csv").write_text("name,x,true,y\n" + rows)
    for chosen in ("x,y", "2,4"):
        done = run("cluster", "people.csv", "-k", 2, "-o", "labels.csv", "--columns", chosen)
        assert done.code == 0, done.err
        np.testing.assert_array_equal(read_labels("labels.csv"), expected)
    np.savez("many.npz", X=X, y=y)
    assert run("cluster", "many.npz", "-k", 2, "-o", "again.csv", "--key", "X").code == 0
    np.testing.assert_array_equal(read_labels("again.csv"), expected)


def test_the_number_of_clusters_can_be_found(run, moons):
    np.save("points.npy", moons[0])
    assert run("cluster", "points.npy", "-k", "auto", "-o", "labels.csv").code == 0
    found = EvenCut("auto", random_state=0).fit_predict(moons[0])
    np.testing.assert_array_equal(read_labels("labels.csv"), found)
    done = run("cluster", "points.npy", "-k", "some", "-o", "labels.csv")
    assert done.code == 2
    assert "-k some is not a whole number; give one of at least 1" in done.err


def test_standardize_makes_the_units_irrelevant(run, moons):
    X, _ = moons
    np.save("a.npy", X)
    np.save("b.npy", X * [1, 1024])
    for name in "ab":
        assert run("cluster", f"{name}.npy", "-k", 2, "-o", f"{name}.csv", "--standardize").code == 0
    np.testing.assert_array_equal(read_labels("a.csv"), read_labels("b.csv"))


def test_plot_draws_a_picture(run, tmp_path, moons):
    np.save("points.npy", moons[0])
    assert run("cluster", "points.npy", "-k", 2, "-o", "labels.csv", "--plot", "p.png").code == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "p.png", "points.npy"]


def test_demo_shows_the_bias_and_the_cure(run, tmp_path):
    done = run("demo")
    assert done.code == 0, done.err
    rows = {line.split("  ")[1].strip(): line.split() for line in done.out.splitlines() if "+" in line}
    assert set(rows) == {"kernel k-means", "evencut"}
    assert float(rows["kernel k-means"][-1]) < 0.5 < 0.95 <= float(rows["evencut"][-1])
    assert (tmp_path / "out/demo.png").read_bytes().startswith(b"\x89PNG")
    table = np.genfromtxt("out/labels.csv", delimiter=",", names=True)
    assert table.dtype.names == ("x", "y", "true", "kernel_kmeans", "evencut")
    assert len(table) == 600
    score = adjusted_rand_score(table["true"].astype(int), table["evencut"].astype(int))
    assert f"{score:.2f}" == rows["evencut"][-1]


def test_every_kind_of_number_in_parquet_is_read(run, moons):
    X, y = moons
    columns = {"x": X[:, 0].astype("f4"), "upper": y == 0, "large": y.astype("u8") + 2**63}
    pa.parquet.write_table(pa.table(columns), "odd.parquet")
    done = run("cluster", "odd.parquet", "-k", 2, "-o", "labels.csv", "--standardize")
    assert done.code == 0, done.err
    assert adjusted_rand_score(y, read_labels("labels.csv")) == 1


def test_a_warning_is_one_line(run, monkeypatch, moons):
    fit = EvenCut.fit

    def warn_and_fit(self, X):
        warnings.warn("points still moved\nafter 1 sweep", ConvergenceWarning, stacklevel=2)
        return fit(self, X)

    np.save("points.npy", moons[0])
    monkeypatch.setattr(EvenCut, "fit", warn_and_fit)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = run("cluster", "points.npy", "-k", 2, "-o", "labels.csv")
    assert done.code == 0
    assert done.err.splitlines()[0] == "evencut: warning: points still moved after 1 sweep"


def test_version_and_help(run):
    assert run("--version").out == f"evencut {evencut.__version__}\n"
    for arguments in ([], ["--help"], ["-h"]):
        done = run(*arguments)
        assert done.code == 0
        assert "cluster" in done.out
        assert "demo" in done.out
    assert "--equalize" in run("cluster", "--help").out


# What it refuses


@pytest.fixture
def bad_files(tmp_path):
    files = {
        "empty.csv": "",
        "blank.csv": "\n\n",
        "header.csv": "x,y\n",
        "ragged.csv": "1,2\n3,4\n\n5,6,7\n",
        "text.csv": "name,height\nann,1\nbob,2\n",
        "mixed.csv": "ann,1\nbob,2\n",
        "hole.csv": "x,y\n1,2\n3,\n",
        "nan.csv": "x,y\n1,2\n\n3,nan\n",
        "inf.csv": "1,2\ninf,3\n",
        "index.csv": ",x,y\n0,1.5,2.5\n1,2.5,1.5\n",
        "quote.csv": '1,2\n"3,4\n',
        "points.xyz": "1,2\n",
        "good.csv": "1,2\n3,4\n5,9\n",
        "same.csv": "1,2\n1,2\n1,2\n",
        "one.csv": "1,2\n",
        "fake.npy": "1,2\n",
        "fake.npz": "1,2\n",
        "fake.parquet": "1,2\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin.csv").write_bytes("größe,x\n1,2\n".encode("latin-1"))
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    np.save(tmp_path / "nothing.npy", np.zeros((0, 2)))
    np.save(tmp_path / "nan.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    np.savez(tmp_path / "two.npz", X=np.zeros((2, 2)), y=np.zeros(2))
    pa.parquet.write_table(pa.table({"x": [1.0, 2.0], "city": ["a", "b"]}), tmp_path / "text.parquet")
    pa.parquet.write_table(pa.table({"x": [1.0, None]}), tmp_path / "null.parquet")
    (tmp_path / "folder.csv").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("absent.csv -k 2", "absent.csv does not exist"),
        ("folder.csv -k 2", "folder.csv is a folder"),
        ("points.xyz -k 2", "points.xyz is not of a known kind"),
        ("empty.csv -k 2", "empty.csv is empty"),
        ("blank.csv -k 2", "blank.csv is empty"),
        ("header.csv -k 2", "header.csv has a header but no data"),
        ("ragged.csv -k 2", "ragged.csv, line 4 has 3 values, but line 1 has 2"),
        ("text.csv -k 2 --columns name", "text.csv, line 2, column 'name' is text ('ann'), not a number"),
        ("mixed.csv -k 2 --columns 1", "mixed.csv, line 1, column 'column 1' is text ('ann')"),
        ("mixed.csv -k 2 --columns 1", "say --header if line 1 names the columns"),
        ("hole.csv -k 2 --missing error", "hole.csv, line 3, column 'y' is missing (1 of 2 rows lack values)"),
        ("nan.csv -k 2 --missing error", "nan.csv, line 4, column 'y' is missing"),
        ("inf.csv -k 2", "inf.csv, line 2, column 'column 1' is inf"),
        ("index.csv -k 2", "column 1 of 3 has no name"),
        ("quote.csv -k 2", "quote.csv is not CSV that can be read"),
        ("latin.csv -k 2", "latin.csv is not text in UTF-8"),
        ("latin.csv -k 2", 'with --encoding, such as "latin-1"'),
        ("fake.npy -k 2", "fake.npy is not a NumPy file that can be read"),
        ("fake.npz -k 2", "fake.npz is not a NumPy file that can be read"),
        ("fake.parquet -k 2", "fake.parquet is not a Parquet file that can be read"),
        ("words.npy -k 2", "words.npy holds <U1, not numbers"),
        ("objects.npy -k 2", "objects.npy is not a NumPy file that can be read"),
        ("cube.npy -k 2", "cube.npy has shape (2, 2, 2)"),
        ("nothing.npy -k 2", "nothing.npy is empty"),
        ("nan.npy -k 2 --missing error", "nan.npy: row 2, column 'column 2' is missing"),
        ("two.npz -k 2", "two.npz holds 2 arrays (X, y); name one with --key"),
        ("two.npz -k 2 --key Z", "--key Z is not in two.npz; it holds X, y"),
        ("good.csv -k 2 --key X", "--key X names an array of an NPZ file"),
        ("nan.npy -k 2 --header", "--header is for CSV and Excel files"),
        ("text.parquet -k 2 --columns city", "column 'city' is text ('a'), not a number (2 different words"),
        ("null.parquet -k 2 --missing error", "row 2, column 'x' is missing (1 of 2 rows lack values); leave those"),
        ("null.parquet -k 2 --missing error", "with --missing drop, or fill in values with --missing mean"),
        ("good.csv -k 2 --columns 1,9", "--columns 9 is not in good.csv; it has column 1, column 2"),
        ("good.csv -k two", "-k two is not a whole number; give one of at least 1"),
        ("good.csv -k 0", "-k 0 is out of range; give a whole number of at least 1"),
        ("good.csv -k 12", "n_clusters=12 is more than the 3 points given"),
        ("same.csv -k 2", "n_clusters=2 is more than the 1 distinct points"),
        ("one.csv -k 1", "one.csv has only one row to cluster; give at least two"),
        ("good.csv -k 2 --kernel gausian", "--kernel gausian is not known; did you mean gaussian?"),
        ("good.csv -k 2 --criterion ncut", "--criterion ncut is not known"),
        ("good.csv -k 2 --equalize all", "--equalize all is not known"),
        ("good.csv -k 2 --solver magic", "--solver magic is not known"),
        ("good.csv -k 2 --bandwidth 3", "--bandwidth is for one kernel; name it with --kernel"),
        ("good.csv -k 2 --n-neighbors 9", "--n-neighbors is for one kernel; name it with --kernel"),
        ("good.csv -k 2 --criterion average_cut", "--criterion is for one kernel; name it with --kernel"),
        ("good.csv -k 2 --equalize exact", "--equalize is for one kernel; name it with --kernel"),
        ("good.csv -k 2 --solver lloyd", "--solver is for one kernel; name it with --kernel"),
        ("good.csv -k 2 --kernel auto", "--kernel auto is not known"),
        ("good.csv -k 2 --kernel knn --bandwidth 3", "--bandwidth 3 does not fit --kernel knn"),
        ("good.csv -k 2 --kernel gaussian --bandwidth wide", "wide"),
        ("good.csv -k 2 --kernel gaussian --bandwidth=-1", "-1"),
        ("good.csv -k 2 --kernel knn --n-neighbors 0", "n_neighbors=0 must be a whole number from 1"),
        ("good.csv -k 2 --n-jobs 0", "--n-jobs 0 would do nothing"),
        ("good.csv -k 2 --seed=-1", "--seed -1 is out of range; give a whole number of 0 to 4294967295"),
        ("good.csv -k 2 --colour red", "--colour"),
        ("good.csv -k 2 -o absent/labels.csv", "the folder"),
        ("good.csv -k 2 -o folder.csv", "it is a folder"),
        ("good.csv -k 2 -o labels.doc", "its name must end in one of .csv"),
        ("good.csv -k 2 -o good.csv", "good.csv is both the input and the output"),
        ("good.csv -k 2 --plot p.doc", "cannot draw p.doc: its name must end in one of .png"),
        ("good.csv -k 2 --plot absent/p.png", "the folder"),
    ],
)
def test_a_mistake_costs_one_line_and_changes_nothing(run, bad_files, arguments, says):
    before = {path: path.read_bytes() for path in bad_files.iterdir() if path.is_file()}
    extra = [] if "-o" in arguments else ["-o", "labels.csv"]
    done = run("cluster", *arguments.split(), *extra)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("evencut: error: ")
    assert done.err.count("\n") == 1, done.err
    assert says in done.err
    assert {path: path.read_bytes() for path in bad_files.iterdir() if path.is_file()} == before


def test_unknown_commands_and_unwritable_demo_folders_are_mistakes_too(run, tmp_path):
    assert run("clutser").code == 2
    (tmp_path / "taken").write_text("")
    done = run("demo", "--out", "taken")
    assert done.code == 2
    assert "cannot make the folder taken" in done.err


@pytest.mark.parametrize("missing", ["typer", "matplotlib", "pyarrow"])
def test_a_missing_library_is_named_with_its_cure(run, monkeypatch, tmp_path, missing):
    np.save("points.npy", np.zeros((3, 2)))
    # The command is imported anew; afterwards its package holds the old one again.
    monkeypatch.setattr(evencut.cli, "cluster", import_module("evencut.cli.cluster"))
    for module in [name for name in sys.modules if name.split(".")[0] == missing or name == "evencut.cli.cluster"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, missing, None)
    done = run("cluster", "points.npy", "-k", 2, "-o", "labels.parquet", "--plot", "p.png")
    extra = "plot" if missing == "matplotlib" else "cli"
    assert done.code == 2
    assert f'pip install "evencut[{extra}]"' in done.err
    assert done.err.count("\n") == 1


# What it leaves behind when something goes wrong


@pytest.mark.parametrize("wrong", [KeyboardInterrupt, ValueError("affinities are wrong"), RuntimeError("a bug")])
def test_the_old_labels_survive_whatever_stops_the_clustering(run, monkeypatch, tmp_path, moons, wrong):
    def fail(*_, **__):
        raise wrong

    np.save("points.npy", moons[0])
    Path("labels.csv").write_text("precious\n")
    monkeypatch.setattr(EvenCut, "fit", fail)
    done = run("cluster", "points.npy", "-k", 2, "-o", "labels.csv")
    assert done.code == {KeyboardInterrupt: 130}.get(wrong, 2 if isinstance(wrong, ValueError) else 1)
    assert "Traceback" not in done.err
    assert Path("labels.csv").read_text() == "precious\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.csv", "points.npy"]


@pytest.mark.parametrize("wrong", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, wrong):
    target = tmp_path / "labels.csv"
    target.write_text("precious")
    target.chmod(0o640)
    with pytest.raises((KeyboardInterrupt, outputs.UserError)), outputs.atomic_write(target) as file:
        file.write(b"half")
        raise wrong
    assert target.read_text() == "precious"
    with outputs.atomic_write(target) as file:
        file.write(b"whole")
        assert target.read_text() == "precious"
    assert target.read_text() == "whole"
    if sys.platform != "win32":  # which knows no such rights
        assert target.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there, and devices have no names")
def test_links_are_followed_and_devices_never_replaced(tmp_path):
    target, link = tmp_path / "real.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    with outputs.atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    outputs.check_writable(os.devnull)
    with outputs.atomic_write(os.devnull) as file:
        file.write(b"gone")
    assert Path(os.devnull).is_char_device()


# What only a real process shows


@pytest.mark.skipif(sys.platform == "win32", reason="a process is interrupted by a POSIX signal")
def test_interrupting_a_real_process(tmp_path):
    (tmp_path / "labels.csv").write_text("precious\n")
    process = subprocess.Popen(
        [*EVENCUT, "cluster", "-", "-k", "2", "-o", "labels.csv"],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    process.stdin.write(b"1,2\n")
    process.stdin.flush()
    wait_until_it_reads(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in out + err
    assert (tmp_path / "labels.csv").read_text() == "precious\n"


def wait_until_it_reads(process):
    """Wait until the process has taken the line from the pipe (that is, is past its imports); POSIX only."""
    import fcntl
    import struct
    import termios

    for _ in range(600):
        waiting = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0\0\0\0"))[0]
        if not waiting or process.poll() is not None:
            return
        time.sleep(0.1)


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is imitated by a POSIX pseudo-terminal")
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_moves_on_a_terminal_and_never_in_a_pipe(tmp_path, monkeypatch, capfd, terminal):
    import pty

    X, _ = make_rings(60, random_state=0)
    np.save(tmp_path / "points.npy", X)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty() if terminal else os.pipe()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_to_the_end, ours)
        with os.fdopen(theirs, "w") as stderr, monkeypatch.context() as patched, pytest.raises(SystemExit) as left:
            patched.setattr(sys, "stderr", stderr)
            evencut.cli.main(["cluster", "points.npy", "-k", "2"])
        shown = reading.result(timeout=60)
    labels = capfd.readouterr().out.split()
    assert left.value.code == 0
    assert labels[0] == "label"
    assert len(labels) == 61
    assert ("\x1b" in shown) == terminal
    if terminal:
        assert "clustering 60 points" in shown
    assert "60 points, clusters of" in shown


def read_to_the_end(descriptor):
    shown = b""
    while True:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # a terminal whose other end is closed
            piece = b""
        if not piece:
            os.close(descriptor)
            return shown.decode()
        shown += piece


def test_a_missing_option_names_the_help_of_its_command(run):
    Path("p.csv").write_text("x,y\n1,2\n3,4\n")
    said = run("cluster").err
    assert "Missing argument" in said and "(evencut cluster --help shows the options)" in said
    assert "(evencut --help shows the options)" in run("clutser").err


def test_a_folder_that_cannot_be_written_is_named(run, tmp_path, monkeypatch):
    def refuse(self, *arguments, **options):
        raise OSError(30, "Read-only file system", str(self))

    Path("p.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "locked").mkdir()
    monkeypatch.setattr(Path, "unlink", refuse)
    opened = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, mode="r", *rest: (refuse if "x" in mode else opened)(self, mode, *rest)
    )
    answer = run("cluster", "p.csv", "-k", 2, "-o", "locked/l.csv")
    assert answer.code == 2
    assert f"no file can be created in the folder {tmp_path / 'locked'} (Read-only file system)" in answer.err
    assert ".part" not in answer.err


# Completion by the shell


def offered(line, shell="bash"):
    """What the shell is offered for the last word of a line."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **asked, "_EVENCUT_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "evencut"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("evencut segment", ["segment", "segment-folder"]),
        ("evencut cluster points.csv --stand", ["--standardize"]),
        ("evencut cluster points.csv --metric cos", ["cosine"]),
        ("evencut diagnose points.csv --missing dr", ["drop"]),
    ],
)
def test_shells_complete_commands_options_and_names(line, expected):
    assert offered(line) == expected


def test_the_script_of_a_shell_asks_for_what_is_offered(tmp_path):
    command = [sys.executable, "-m", "evencut", "--show-completion", "bash"]
    # The shell is named, not looked for among the processes that started this one.
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    script = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=env).stdout
    assert "_EVENCUT_COMPLETE=complete_bash" in script and "complete -o default -F" in script
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash to run the script of")
    program = tmp_path / "evencut"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m evencut "$@"\n')
    program.chmod(0o755)
    typed = f'{script}\nCOMP_WORDS=(evencut pre)\nCOMP_CWORD=1\n_evencut_completion "{program}"'
    typed += '\necho "${COMPREPLY[@]}"'
    done = subprocess.run([bash, "-c", typed], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["predict"], done.stderr
