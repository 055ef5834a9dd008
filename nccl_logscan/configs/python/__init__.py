"""Python programs: environments and keywords that they set, and edits."""
