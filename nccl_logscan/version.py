"""The version of the program; hatchling reads it from here."""

__version__ = "0.1.0"
