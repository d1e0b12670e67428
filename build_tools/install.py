"""Install evencut from this folder, with extras, into the environment of the Python that runs this.

    python build_tools/install.py cli,plot [-Dboundscheck=true]

What it takes to compile comes first, into the same environment: an editable install compiles again what has changed
when it is imported. Where there is no C compiler, the package ziglang is one. A line says what is being done.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILERS = ("cc", "gcc", "clang", "icx") + (("cl", "clang-cl") if sys.platform == "win32" else ())
#: What pip says of its steps, and how we put it.
STEPS = {
    r"Collecting (?P<name>[A-Za-z0-9_.-]+)": "getting {name}",
    r"Preparing editable metadata": "compiling the loops",
    r"Installing collected packages": "unpacking everything",
}


def main(extras: str, *options: str) -> int:
    """Install the build requirements, a compiler where there is none, and evencut."""
    started = time.monotonic()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = list(project["build-system"]["requires"])
    surroundings = dict(os.environ)
    # The tools that were just installed, whether or not the environment is active.
    surroundings["PATH"] = str(Path(sys.executable).parent) + os.pathsep + surroundings.get("PATH", "")
    if not has_compiler(surroundings):
        print("no C compiler here: taking the package ziglang for one (100 MB); CC=... names another", flush=True)
        needed.append("ziglang")
        surroundings |= {"CC": f"{sys.executable} -m ziglang cc", "AR": f"{sys.executable} -m ziglang ar"}
    settings = [f"-Csetup-args={option}" for option in options]
    if options:
        settings.append("-Cbuild-dir=build/" + re.sub(r"\W+", "-", "-".join(options)).strip("-"))
    for arguments in (needed, ["--no-build-isolation", *settings, "--editable", f"{ROOT}[{extras}]"]):
        failed = install(arguments, surroundings)
        if failed:
            return failed
    tell(f"installed in {time.monotonic() - started:.0f} s", last=True)
    return 0


def has_compiler(surroundings: dict[str, str]) -> bool:
    """Whether a C compiler is named, or found where the system looks."""
    if surroundings.get("CC"):
        return True
    return sys.platform == "win32" or any(shutil.which(name, path=surroundings["PATH"]) for name in COMPILERS)


def install(arguments: list[str], surroundings: dict[str, str]) -> int:
    """Run pip and tell its steps; what it said comes out only where it failed."""
    # Byte code is made when a module is first imported; of most that are installed, nothing ever is.
    options = ["--disable-pip-version-check", "--no-compile"]
    command = [sys.executable, "-m", "pip", "install", *options, *arguments]
    said: list[str] = []
    told = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            said.append(line)
            for pattern, step in STEPS.items():
                # pip says of a long step again and again that it still runs.
                if (met := re.search(pattern, line)) and (now := step.format(**met.groupdict())) != told:
                    told = now
                    tell(told)
    if pip.returncode:
        tell("", last=True)
        sys.stderr.writelines(said[-60:])
    return pip.returncode


def tell(step: str, last: bool = False) -> None:
    """Show a step: in place of the one before on a terminal, else as a line."""
    if sys.stdout.isatty():
        print(f"\r\033[K{step}", end="\n" if last else "", flush=True)
    else:
        print(step, flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
