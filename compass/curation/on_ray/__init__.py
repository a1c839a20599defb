"""Curation on a Ray cluster: the stages' own functions on pieces of a file, with the same rows in the same order.

Records go from file to file; what lies between is in Ray's object store, which moves to disk what exceeds its memory.
Ray's tasks and objects are used directly, not Ray Data, whose grouping holds partitions in the memory of actors, outside of the
store's bound.
"""
