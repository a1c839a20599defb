"""Difficulty grading: solve rates of sampled rollouts, and the levels 1-5 made of them."""
