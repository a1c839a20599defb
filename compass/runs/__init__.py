"""The durable files of runs and their one reader: progress, times, results, DVC's graph, names.

A stage writes what it does into files that DVC or `work/` keeps. `compass status`, `compass watch`, the live page, Prefect's
artifacts, MLflow and the report are views of these files, made again at any time.
"""
