"""Solvers of a `RatioProblem`: spectral start, Lloyd steps, moves, exchanges, multilevel; one file each."""

from .solution import Solution, heaviest_first
from .solve import SOLVERS, Effort, Solver, refine, solve

__all__ = ["SOLVERS", "Effort", "Solution", "Solver", "heaviest_first", "refine", "solve"]
