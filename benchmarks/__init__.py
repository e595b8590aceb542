"""Benchmarks: each module is a command that prints figures and ratios from one run, as Markdown."""
