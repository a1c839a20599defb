"""A first parameter file for one's own data, benchmark and model: what is read, measured and chosen, and why.

`inputs` has what curation leaves of the files, what is known of the policy before it is loaded, and what this machine has;
`sizes` what follows from these; `profile` writes the file with its reasons as comments.
"""
