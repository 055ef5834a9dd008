"""Shell scripts: words, commands, what each launcher hands over, and edits."""
