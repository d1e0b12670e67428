"""Kernel clustering without density bias."""
