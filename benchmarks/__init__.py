"""Generators of logs, and what a scan and lint cost on them."""
