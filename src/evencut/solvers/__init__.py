"""Solvers of a `RatioProblem`: spectral starts, Lloyd steps, moves of points, exchanges of clusters, multilevel."""

from .solve import SOLVERS, Effort, Solution, Solver, heaviest_first, refine, solve

__all__ = ["SOLVERS", "Effort", "Solution", "Solver", "heaviest_first", "refine", "solve"]
