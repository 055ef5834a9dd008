"""What no rule claims: a category for it with a probability, or nothing. `fitting.py` alone needs scikit-learn."""
