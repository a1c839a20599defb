"""The checks of a repository, its settings and its machine.

`before_run` has those that every run starts with, `doctor` those of `compass doctor`, which are the same and more.
"""
