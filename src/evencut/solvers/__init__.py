"""Solvers of a `RatioProblem`: spectral start, Lloyd steps, single-point moves, multilevel; one file each."""

from .solution import Solution
from .solve import SOLVERS, Effort, Solver, refine, solve

__all__ = ["SOLVERS", "Effort", "Solution", "Solver", "refine", "solve"]
