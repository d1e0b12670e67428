"""Solvers of a `RatioProblem`: spectral start, Lloyd steps, single-point moves, multilevel; one file each."""

from .solve import SOLVERS, Solution, refine, solve

__all__ = ["SOLVERS", "Solution", "refine", "solve"]
