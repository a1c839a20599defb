"""One module per DVC stage, named after it: `run(...) -> Summary` and a `main()`. All RL stages share `stages/rl.py`."""
