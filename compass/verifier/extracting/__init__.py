"""From a response to the text of its final answer: `boxes` reads boxes, `phrases` running text; `compass/verifier/extract.py` puts them in order."""
