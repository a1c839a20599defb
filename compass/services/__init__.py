"""The local servers around a repository: started, watched and ended together.

`state` says which of them run, `catalogue` how each is started and asked for its health, `start` and `stop` bring them up and
end them. Everything that they write is in `.compass/` at the repository's root.
"""
