"""Sampling responses from a model with vLLM: the offline engine, and runs that continue where they were stopped."""
