"""Events and a Rulebook to findings and a verdict."""
