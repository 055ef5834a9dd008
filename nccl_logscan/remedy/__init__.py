"""A verdict to a plan: what to do, in order."""
