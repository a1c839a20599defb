"""Curation on a Ray cluster: the stages' own functions on pieces of a file, with the same rows in the same order.

Records go from file to file; what lies between is in Ray's object store, which moves to disk what exceeds its memory.
Ray's tasks and objects are used directly, not Ray Data, whose workers take memory that no setting bounds; figures are in
`docs/scaling_curation.md`.
"""
