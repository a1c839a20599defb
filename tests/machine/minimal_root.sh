#!/usr/bin/env bash
# Try the README's commands as on a new machine: Debian 12 with python3.11-venv, git and make, and nothing else.
#
#     sudo tests/machine/minimal_root.sh [FOLDER]        # FOLDER: where to build the system, else a new one under /tmp
#
# Builds the system with debootstrap, clones the last commit into it, and runs `make pipeline` and `make test` there. Each
# must end well, or stop within ten seconds and name one command; that command is then run, and it must end well. Takes
# an hour and 15 GB and needs root, debootstrap and util-linux, so `make test` leaves it out. Mounts and processes live in
# namespaces of their own: all are gone when the script ends, and FOLDER can be deleted.
#
# COMMANDS="pipeline"    what to make instead of "pipeline test"
# PROFILE=debug          another profile than the one in force, for a first pass in ten minutes
# SHM=64m                size of /dev/shm; the default is what containers get
# LISTS=keep             keep apt's package lists: set-up then takes the library out of its package, without root
# BIND="FOLDER ..."      folders to see inside at the same path: wheels, package caches
# Variables PIP_*, UV_*, COMPASS_WHEELS and SSL_CERT_FILE and pip's configuration hold inside as well.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "minimal_root: run it as root (chroot and mounts)" >&2; exit 2; }
if [ -z "${IN_NAMESPACE:-}" ]; then IN_NAMESPACE=1 exec unshare --mount --pid --fork --kill-child bash "$0" "$@"; fi

repository=$(cd "$(dirname "$0")/../.." && pwd)
root=${1:-$(mktemp -d /tmp/minimal-root.XXXXXX)}
echo "minimal_root: building Debian 12 in $root"
[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root" >"$root.log"

mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o "size=${SHM:-64m}" shm "$root/dev/shm"
for folder in $repository ${BIND:-}; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
done
cp /etc/resolv.conf "$root/etc/"
for file in /etc/pip.conf /etc/xdg/pip "$HOME/.config/pip"; do
    if [ -e "$file" ]; then mkdir -p "$root${file%/*}" && cp -r "$file" "$root${file%/*}/"; fi
done
mapfile -t passed < <(env | grep -E '^(PIP_|UV_|COMPASS_WHEELS=|SSL_CERT_FILE=)')

inside() {
    env -i HOME="$HOME" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${passed[@]}" \
        chroot "$root" bash -c "$1"
}

inside "apt-get update -qq && apt-get install -qq -y --no-install-recommends ca-certificates git make python3.11-venv" \
    >>"$root.log" 2>&1
if [ -n "${SSL_CERT_FILE:-}" ]; then cp "$SSL_CERT_FILE" "$root$SSL_CERT_FILE"; fi
if [ "${LISTS:-}" != keep ]; then rm -rf "$root"/var/lib/apt/lists/*; fi
inside "git config --global --replace-all safe.directory '*' && rm -rf /compass && git clone -q $repository /compass"
if [ -n "${PROFILE:-}" ]; then cp "$root/compass/profiles/$PROFILE.yaml" "$root/compass/params.yaml"; fi

for command in ${COMMANDS:-pipeline test}; do
    SECONDS=0
    if ! inside "cd /compass && make $command" 2>&1 | tee "$root.$command.log"; then
        [ "$SECONDS" -le 10 ] || { echo "minimal_root: make $command failed after $SECONDS s" >&2; exit 1; }
        line=$(sed -n '/run this/{n;p}' "$root.$command.log")
        [ -n "$line" ] || { echo "minimal_root: make $command stopped and named no command" >&2; exit 1; }
        echo "minimal_root: make $command stopped after $SECONDS s; running:$line"
        inside "$line" >>"$root.log" 2>&1
        SECONDS=0
        inside "cd /compass && make $command" 2>&1 | tee "$root.$command.log"
    fi
    echo "minimal_root: make $command ended well after $SECONDS s"
done
