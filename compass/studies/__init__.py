"""Studies: recipes compared over training runs. `study.py` reads their files, `statistics.py` decides."""
