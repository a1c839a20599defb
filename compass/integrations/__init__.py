"""The verifier inside other projects: one module each, which imports that project only when it is used.

`math_verify` has Math-Verify's `parse` and `verify`; `trl` a reward function, `verl` a `compute_score`, `lighteval` a metric,
`lm_eval` a `process_results`. Each shows in its first lines how to call it.
"""
