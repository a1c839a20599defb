"""Evaluation: benchmarks, accuracies without bias, their uncertainty, and the comparison of models."""
