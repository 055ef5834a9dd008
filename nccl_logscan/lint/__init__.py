"""Settings against the catalogue: misspelt, read by nothing, too old, too new, wrong, harmful, out of reach."""
