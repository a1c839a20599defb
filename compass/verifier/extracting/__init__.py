"""From a response to the text of its final answer: `boxes`, `announcements` and `sentences` each read one kind of evidence, in the words of
`languages`; `compass/verifier/extract.py` puts them in order."""
