"""The page and the terminal table that a run ends with."""
