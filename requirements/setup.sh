#!/usr/bin/env bash
# Make .venv with the locked environment and this project in it: requirements/setup.sh [cpu|gpu]
#
# Needs Python 3.11 with venv, and PyPI or a mirror of it that pip knows; what else the machine must have is looked at first
# (requirements/prerequisites.py). Running it again installs what is missing. Each line it prints ends with the seconds so far.
# COMPASS_WHEELS=folder names a folder of wheels to look into first (for the CPU build of torch).
set -euo pipefail
cd "$(dirname "$0")/.."
device=${1:-cpu}
lock=requirements/$device.txt
uv_version=0.13.9
torch_index=https://download.pytorch.org/whl/cpu
[ -f "$lock" ] || { echo "setup: there is no $lock; give cpu or gpu" >&2; exit 2; }
say() { echo "setup: $* ($SECONDS s)"; }

find_python() {
    for candidate in "${PYTHON:-python3.11}" python3.11 /usr/bin/python3.11 python3 python; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "setup: Python 3.11 with venv was not found; run this, then the same command again (or name one with PYTHON=path):" >&2
    # All that the pipeline needs, since what else is missing is found by Python.
    sudo=$([ "$(id -u)" = 0 ] || echo "sudo ")
    if command -v dnf >/dev/null; then
        echo "  ${sudo}dnf install -y python3.11 git numactl-libs" >&2
    else
        echo "  ${sudo}apt-get update && ${sudo}apt-get install -y python3.11-venv git libnuma1" >&2
    fi
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

python=$(find_python)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
.venv/bin/python -m pip --version >/dev/null 2>&1 || rm -rf .venv
"$python" -I requirements/prerequisites.py "$device" --libraries "$scratch/libraries"
if [ ! -d .venv ]; then
    say "making .venv with $("$python" -V)"
    "$python" -m venv .venv
fi
if [ -d "$scratch/libraries" ]; then
    # Libraries that the system lacks: Python loads them when it starts, and whatever links them finds them loaded.
    cp "$scratch/libraries"/* .venv/lib/
    site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    for library in "$scratch/libraries"/*; do
        echo "import ctypes, sys; ctypes.CDLL(sys.prefix + '/lib/${library##*/}')"
    done >"$site/libraries.pth"
fi
say "installing uv $uv_version, which installs the rest"
# Twice quiet: without the warnings about folders named in pip's configuration that hold no such package.
.venv/bin/python -m pip install -qq --disable-pip-version-check "uv==$uv_version"
# uv does not read pip's configuration: pass on the mirror and the certificates it names.
mirror=$(.venv/bin/python -m pip config get global.index-url 2>/dev/null || true)
index=${UV_DEFAULT_INDEX:-${PIP_INDEX_URL:-$mirror}}
if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
[ -n "${PIP_CERT:-}" ] && export SSL_CERT_FILE=${SSL_CERT_FILE:-$PIP_CERT}
export UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-60}
# Compiled here and once: otherwise each of the processes that Ray and vLLM start at once compiles what it imports, and where
# PYTHONDONTWRITEBYTECODE is set, as in many containers, every process does so again: 5 s of processor time for torch alone.
install() { .venv/bin/uv pip install --quiet --compile-bytecode --python .venv/bin/python "$@"; }

torch=$(sed -n 's/^torch==//p' "$lock")
if [[ $torch == *+cpu ]] && ! .venv/bin/python -c "from importlib.metadata import version as v; assert v('torch') == '$torch'" 2>/dev/null; then
    wheel=$(find_torch "$torch")
    if [ -n "$wheel" ]; then
        say "installing torch $torch from $wheel"
        install --no-deps "$wheel"
    elif say "asking PyTorch's index of CPU builds for torch $torch" && reachable "$torch_index" &&
        timeout 900 env UV_HTTP_TIMEOUT=20 .venv/bin/uv pip install --quiet --compile-bytecode \
            --python .venv/bin/python --no-deps --default-index "$torch_index" "torch==$torch"; then
        :
    else
        say "no CPU build of torch found and PyTorch's index is not reachable: installing ${torch%+cpu} with CUDA from PyPI (several GB)"
        install "torch==${torch%+cpu}"
    fi
fi

rest=$scratch/rest.txt
if [[ $torch == *+cpu ]]; then grep -v '^torch==' "$lock" >"$rest"; else cp "$lock" "$rest"; fi
say "installing the $(grep -c == "$lock") packages of $lock (5 GB; a few minutes the first time)"
install --no-deps -r "$rest"
install --no-deps --no-build-isolation --editable .
if grep -q 'flows[.]dvc' .venv/bin/dvc; then install --no-deps --reinstall "$(grep '^dvc==' "$lock")"; fi  # a stand-in of older versions
say "done; \`source .venv/bin/activate\` puts compass, dvc, mlflow and prefect on your PATH"
