"""`compass ledger --html`: one self-contained page to browse what curation dropped, and what it kept with doubts."""

from compass.report.ledger_page.page import write_page

__all__ = ["write_page"]
