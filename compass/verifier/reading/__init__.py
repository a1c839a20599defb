"""Text to tree: normalised text, numbers, words, and a Pratt parser for everything else.

`normalise` first; then `numbers` and `words` read the simple answers, and `grammar.parse` all others: `notation` rewrites what the
grammar does not know, `lexer` splits the text, `parser` is the engine, `grammar` holds its tables, and the modules named there the rules.
"""
