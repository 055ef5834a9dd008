"""One module per program that speaks in a log."""
