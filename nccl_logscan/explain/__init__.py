"""What one name means: a variable, a setting, a concept, a code or a message, in full and by version."""
