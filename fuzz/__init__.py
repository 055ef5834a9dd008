"""Fuzzing with atheris: what is fed with arbitrary bytes, what must hold, and how often that was tried.

python -m fuzz TARGET --runs N    feed one target with N inputs
python tools/fuzzing.py           feed all of them, and write what came of it into reports/robustness.md
"""
