"""Configuration files to the settings made in them, each at its place, and edits back into the same bytes."""
