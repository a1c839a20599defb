"""A forecast of a run before anything is spent: tokens, hours, memory and cost per stage, and what does not fit."""
