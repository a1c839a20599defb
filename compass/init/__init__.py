"""A first parameter file for one's own data, benchmark and model: what is read, measured and chosen, and why.

`rows` says what curation leaves of the files, `model` what is known of the policy before it is
loaded, `computer` what this machine has, `sizes` what follows from these, `write` the file with its reasons as comments.
"""
