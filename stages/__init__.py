"""One module a DVC stage, named after it: `run(...) -> Summary` and a `main()`. `rl-1`, `rl-2`, `rl-3` share `stages/rl.py`."""
