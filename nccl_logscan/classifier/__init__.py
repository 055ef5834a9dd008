"""What no rule claims: a category for it with a probability, or nothing. `train.py` alone needs scikit-learn."""
