"""The local servers around a repository: `servers` says what each is, `lifetime` starts and ends them, `state` which run.

Everything that they write is in `.compass/` at the repository's root.
"""
