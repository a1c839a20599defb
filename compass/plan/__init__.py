"""A forecast of a run before anything is spent: tokens, hours and memory per stage, and what does not fit; `compass plan` adds the cost."""
