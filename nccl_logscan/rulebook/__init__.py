"""rules/*.yaml to Rulebook."""
