"""The page of `dvc plots show` and `dvc plots diff`, with the scripts that draw it inside, so that it needs no network.

    python -m flows.plots_page

`make setup` writes it to `.dvc/tmp/plots_page.html`, where `.dvc/config` names it (`plots.html_template`), and `dvc plots` where it is
missing. DVC's own page loads Vega from the web; here it is bundled from the installed `vl-convert-python`.
"""

from __future__ import annotations

from pathlib import Path

from compass.files import atomic_path

PAGE = Path(".dvc/tmp/plots_page.html")

VEGA_LITE = "5.20"
"""The version whose schema DVC's templates name, or the nearest that is bundled."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{refresh_tag}
<title>Compass: accuracy and training curves</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem; display: flex; flex-wrap: wrap; gap: 1rem; color: #222; background: #fff; }
table { border-spacing: 15px; }
</style>
<script>SCRIPTS</script>
</head>
<body>
{plot_divs}
</body>
</html>
"""


def write_plots_page(path: Path = PAGE) -> None:
    """Write the page; `{refresh_tag}` and `{plot_divs}` are for DVC to fill in."""
    import vl_convert

    scripts = vl_convert.javascript_bundle(vl_version=VEGA_LITE)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        # "</script" inside of a text would end the element; "<\\/" is the same to JavaScript.
        temporary.write_text(_PAGE.replace("SCRIPTS", scripts.replace("</script", "<\\/script")), encoding="utf-8")


if __name__ == "__main__":
    write_plots_page()
