"""YAML, JSON and TOML: trees of keys and values with their bytes, the settings in them, and edits."""
