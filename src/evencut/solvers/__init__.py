"""Solvers of a `RatioProblem`: spectral start, Lloyd steps, single-point moves; one file each."""

from .solve import SOLVERS, Solution, solve

__all__ = ["SOLVERS", "Solution", "solve"]
