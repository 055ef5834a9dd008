"""Events as a table: every line of a log tokenised into documented columns, for those who query it themselves."""
