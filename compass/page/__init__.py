"""The kit of every page and card: blocks (`blocks.py`), and one rendering of each as HTML, as Markdown and for a terminal.

Texts in blocks are plain: each rendering escapes what its readers would obey.
"""
