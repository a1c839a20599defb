"""A first parameter file for one's own data, benchmark and model: what is read, measured and chosen, and why.

`fields` says how files are read, `rows` what curation leaves of them, `model` what is known of the policy before it is
loaded, `computer` what this machine has, `sizes` what follows from these, `write` the file with its reasons as comments.
"""
