"""Sampling responses from a model with vLLM: the offline engine, and work that goes on where it was stopped."""
