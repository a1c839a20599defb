#!/usr/bin/env bash
# Make .venv with the locked environment and this project in it: requirements/setup.sh [cpu|gpu]
#
# Needs Python 3.11 with venv, and PyPI or a mirror of it that pip knows. Running it again mends what is missing.
# COMPASS_WHEELS=folder names a folder of wheels to look into first (for the CPU build of torch).
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:-cpu}
lock=requirements/$device.txt
uv_version=0.13.9
torch_index=https://download.pytorch.org/whl/cpu
[ -f "$lock" ] || { echo "setup: there is no $lock; give cpu or gpu" >&2; exit 2; }

find_python() {
    for candidate in "${PYTHON:-python3.11}" python3.11 /usr/bin/python3.11 python3 python; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "setup: Python 3.11 with venv was not found (on Debian: apt install python3.11-venv); name it with PYTHON=path" >&2
    exit 1
}

# Folders that may hold a wheel of torch: what the user names, wheels/, and where pip looks.
wheel_folders() {
    printf '%s\n' "${COMPASS_WHEELS:-}" wheels ${PIP_FIND_LINKS:-}
    .venv/bin/python -m pip config get global.find-links 2>/dev/null | tr ' ' '\n' || true
}

find_torch() {
    while read -r folder; do
        for wheel in "$folder/torch-$1"*cp311*"$(uname -m)".whl; do
            if [ -n "$folder" ] && [ -f "$wheel" ]; then echo "$wheel" && return; fi
        done
    done < <(wheel_folders | sed 's#^file://##')
}

reachable() {
    timeout 15 .venv/bin/python - "$1" 2>/dev/null <<'EOF'
import sys, urllib.request
urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=8).read(64)
EOF
}

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    python=$(find_python)
    "$python" -m venv --clear .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$uv_version"
# uv does not read pip's configuration: pass on the mirror and the certificates it names.
mirror=$(.venv/bin/python -m pip config get global.index-url 2>/dev/null || true)
index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$mirror}}
if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
[ -n "${PIP_CERT:-}" ] && export SSL_CERT_FILE=${SSL_CERT_FILE:-$PIP_CERT}
export UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-60}
install() { .venv/bin/uv pip install --quiet --python .venv/bin/python "$@"; }

torch=$(sed -n 's/^torch==//p' "$lock")
if [[ $torch == *+cpu ]] && ! .venv/bin/python -c "from importlib.metadata import version as v; assert v('torch') == '$torch'" 2>/dev/null; then
    wheel=$(find_torch "$torch")
    if [ -n "$wheel" ]; then
        echo "setup: torch $torch from $wheel"
        install --no-deps "$wheel"
    elif reachable "$torch_index" && timeout 900 env UV_HTTP_TIMEOUT=20 .venv/bin/uv pip install --quiet \
        --python .venv/bin/python --no-deps --default-index "$torch_index" "torch==$torch"; then
        echo "setup: torch $torch from PyTorch's index of CPU builds"
    else
        echo "setup: no CPU build of torch at hand and PyTorch's index is not reachable: torch ${torch%+cpu} with CUDA from PyPI (several GB)"
        install "torch==${torch%+cpu}"
    fi
fi

rest=$(mktemp)
trap 'rm -f "$rest"' EXIT
if [[ $torch == *+cpu ]]; then grep -v '^torch==' "$lock" >"$rest"; else cp "$lock" "$rest"; fi
echo "setup: installing $(grep -c == "$lock") locked packages into .venv"
# Compiled here and once: otherwise each of the processes that Ray and vLLM start at once compiles what it imports.
install --no-deps --compile-bytecode -r "$rest"
install --no-deps --no-build-isolation --editable .
echo "setup: done; \`source .venv/bin/activate\` puts compass, dvc, mlflow and prefect on your PATH"
