"""From a response to the text of its final answer: `turn` says which text counts, `boxes` and `context` read boxes, `announced`
what a phrase announces, `stated` what a sentence says; `compass/verifier/extract.py` puts them in order."""
