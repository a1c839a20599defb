"""DVC's page of plots draws without a network: its scripts are inside, and nothing in it is loaded."""

import re
from pathlib import Path

from flows.plots_page import PAGE, write_plots_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_holds_its_scripts_and_loads_nothing(tmp_path: Path) -> None:
    write_plots_page(tmp_path / "tmp" / "page.html")
    page = (tmp_path / "tmp" / "page.html").read_text(encoding="utf-8")
    around, scripts, rest = re.fullmatch(r"(.*)<script>(.*?)</script>(.*)", page, re.DOTALL).groups()
    assert "window.vegaEmbed=" in scripts
    assert "{plot_divs}" in rest
    assert not re.search(r"<(script|link|img)\b|(src|href)=", around + rest)


def test_dvc_is_told_to_use_it() -> None:
    config = (ROOT / ".dvc" / "config").read_text(encoding="utf-8")
    assert f"html_template = {PAGE.relative_to('.dvc')}" in config
    assert "flows.plots_page" in (ROOT / "requirements" / "setup.sh").read_text(encoding="utf-8")
