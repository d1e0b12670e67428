"""Solvers of a `RatioProblem`: spectral start, Lloyd steps, single-point moves, multilevel; one file each."""

from .solve import SOLVERS, Solution, solve

__all__ = ["SOLVERS", "Solution", "solve"]
