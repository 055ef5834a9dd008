"""Texts of one syntax within a file of another: a script in a manifest, JSON on a command line."""
