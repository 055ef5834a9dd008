"""Warnings that no rule knows → drafts of rules for them, which a person completes."""
