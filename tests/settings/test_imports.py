"""Settings know nothing of the library: what they import decides how fast and how safely every command starts."""

import json
import subprocess
import sys


def test_settings_load_no_other_part_of_the_library() -> None:
    code = "import json, sys, compass.settings; print(json.dumps([m for m in sys.modules if m.startswith('compass')]))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    others = [name for name in loaded if name != "compass.settings" and not name.startswith("compass.settings.")]
    assert others == ["compass", "compass.errors"]
