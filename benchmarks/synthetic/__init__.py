"""Logs that no job wrote, in the shapes that jobs write: for benchmarks, and the same bytes for the same seed."""
