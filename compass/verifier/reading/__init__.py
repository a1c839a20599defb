"""Text to tree: normalised text, plain numbers, words, and a Pratt parser for everything else.

`normalise` first; then `plain_number` and `wording` read the simple answers, and `grammar.parse` all others: `lexer` splits
the text, `parser` is the engine, `grammar` holds its tables, and the modules named there hold the rules.
"""
