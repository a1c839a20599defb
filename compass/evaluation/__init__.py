"""Evaluation: benchmarks, unbiased estimators, their uncertainty, and the comparison of models."""
