"""What set-up finds out before it installs anything. Each lack is made, not acted: absent files, an empty PATH, small numbers."""

import importlib.util
import mmap
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "requirements/prerequisites.py"
SPEC = importlib.util.spec_from_file_location("prerequisites", SCRIPT)
prerequisites = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prerequisites)

ABSENT = prerequisites.Need("libabsent.so.9", "a test links it", "libabsent9", "absent-libs")
PRESENT = prerequisites.Need("libc.so.6", "everything links it", "libc6", "glibc")
MIB = 1 << 20


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The script as set-up calls it, with nothing of this environment but what is given."""
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_machine_that_has_all_is_told_nothing() -> None:
    done = run("cpu", PATH=os.environ["PATH"])
    short = ("check: memory: ", "check: /dev/shm: ", "check: disk: ")  # of what other programs hold at the moment
    assert [line for line in done.stderr.splitlines() if not line.startswith(short)] == []
    assert (done.returncode, done.stdout) == (int(done.stderr != ""), "")


def test_every_missing_thing_is_named_with_its_use_and_one_command_brings_it(tmp_path: Path) -> None:
    executable(tmp_path / "apt-get")
    done = run("gpu", PATH=str(tmp_path))
    sudo = "" if os.geteuid() == 0 else "sudo "
    assert done.returncode == 1
    assert "git (DVC works in a git repository), gcc (Triton compiles a launcher" in done.stderr
    command = done.stderr.splitlines()[-1]
    assert command.startswith(f"  {sudo}apt-get update && {sudo}apt-get install -y ")
    assert "git gcc" in command


def test_the_check_can_be_switched_off(tmp_path: Path) -> None:
    assert run("cpu", PATH=str(tmp_path)).returncode == 1
    assert run("cpu", PATH=str(tmp_path), COMPASS_CHECK="off").returncode == 0
    assert run("cpu", PATH=str(tmp_path), COMPASS_CHECK="on").returncode == 1


def test_a_library_is_missing_when_neither_the_loader_nor_an_earlier_set_up_has_it(tmp_path: Path) -> None:
    needs = [PRESENT, ABSENT]
    assert prerequisites.missing_libraries(needs, tmp_path) == [ABSENT]
    (tmp_path / ABSENT.name).write_bytes(b"no library")
    assert prerequisites.missing_libraries(needs, tmp_path) == [ABSENT]
    shutil.copy(_some_library(), tmp_path / ABSENT.name)
    assert prerequisites.missing_libraries(needs, tmp_path) == []


def test_programs_are_looked_for_on_the_path(tmp_path: Path) -> None:
    needs = prerequisites.PROGRAMS["gpu"]
    assert [need.name for need in prerequisites.missing_programs(needs, str(tmp_path))] == ["git", "gcc"]
    executable(tmp_path / "git")
    assert [need.name for need in prerequisites.missing_programs(needs, str(tmp_path))] == ["gcc"]


def test_headers_are_looked_for_in_pythons_folder(tmp_path: Path) -> None:
    needs = prerequisites.HEADERS["gpu"]
    assert prerequisites.missing_headers(needs, tmp_path) == list(needs)
    (tmp_path / "Python.h").touch()
    assert prerequisites.missing_headers(needs, tmp_path) == []


@pytest.mark.parametrize(
    ("manager", "root", "expected"),
    [
        ("apt-get", True, "apt-get update && apt-get install -y libabsent9 libc6"),
        ("apt-get", False, "sudo apt-get update && sudo apt-get install -y libabsent9 libc6"),
        ("dnf", True, "dnf install -y absent-libs glibc"),
        ("dnf", False, "sudo dnf install -y absent-libs glibc"),
        (None, True, "your package manager on libabsent9 libc6 (Debian's names; Fedora's: absent-libs glibc)"),
    ],
)
def test_the_command_fits_the_distribution(manager: str | None, root: bool, expected: str) -> None:
    assert prerequisites.command([ABSENT, PRESENT, ABSENT], manager=manager, root=root) == expected


FLAGS = {"fpu", "avx2"}


LINUX = ("Linux", "x86_64")


@pytest.mark.parametrize(
    ("system", "processor", "glibc", "flags", "device", "fault"),
    [
        (*LINUX, (2, 28), FLAGS, "cpu", None),
        (*LINUX, (2, 28), None, "cpu", None),
        (*LINUX, (2, 36), {"fpu"}, "gpu", None),
        (*LINUX, (2, 36), {"fpu"}, "cpu", "vLLM's CPU kernels need a processor with AVX2"),
        (*LINUX, (2, 27), FLAGS, "cpu", "the locked packages need glibc 2.28 or later, and this one has 2.27"),
        (*LINUX, (), FLAGS, "cpu", "the locked packages need glibc 2.28 or later, and this system has another"),
        (
            "Linux",
            "aarch64",
            (2, 36),
            None,
            "cpu",
            "the locked packages are for Linux on x86_64, and this is Linux on aa",
        ),
        ("Darwin", "x86_64", (), None, "cpu", "the locked packages are for Linux on x86_64, and this is Darwin on x86"),
    ],
)
def test_a_machine_that_no_package_helps(system, processor, glibc, flags, device, fault) -> None:
    faults = prerequisites.unsuited(system, processor, glibc, flags, device)
    assert len(faults) == (fault is not None)
    assert all(said.startswith(fault) for said in faults)


def test_shortages_begin_below_what_is_needed() -> None:
    enough = prerequisites.MEMORY, prerequisites.SHARED_MEMORY, prerequisites.DISK_SETUP
    assert prerequisites.shortages(*enough, is_set_up=False) == []
    memory, shared, disk = prerequisites.shortages(*(size - MIB for size in enough), is_set_up=False)
    assert memory[:2] == (
        "memory",
        f"{(prerequisites.MEMORY - MIB) / 2**30:.1f} GiB available, {prerequisites.gib(prerequisites.MEMORY)} needed",
    )
    assert shared[:2] == ("/dev/shm", "47 MiB free, 48 MiB needed")
    assert "mount -o remount,size=2G /dev/shm" in shared[2]
    assert "--shm-size 2g" in shared[2]
    assert disk == ("disk", "10.0 GiB free in the repository's folder, 10.0 GiB needed", "")


def test_once_set_up_only_outputs_need_space() -> None:
    assert prerequisites.shortages(1 << 60, 1 << 60, 2 << 30, is_set_up=True) == []
    assert len(prerequisites.shortages(1 << 60, 1 << 60, (2 << 30) - 1, is_set_up=True)) == 1
    assert len(prerequisites.shortages(1 << 60, 1 << 60, 2 << 30, is_set_up=False)) == 1


def test_memory_is_the_kernels_within_the_containers(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 16 kB\nMemAvailable: 8 kB\nHugePages_Total: 0\n")
    assert prerequisites.available_memory(meminfo, tmp_path) == 8192
    (tmp_path / "memory.max").write_text("max\n")
    assert prerequisites.available_memory(meminfo, tmp_path) == 8192
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 1000\ninactive_file 2000\n")
    assert prerequisites.available_memory(meminfo, tmp_path) == 4000
    (tmp_path / "memory.max").write_text("9193\n")
    assert prerequisites.available_memory(meminfo, tmp_path) == 8192


def test_a_folder_that_is_not_there_has_no_space(tmp_path: Path) -> None:
    assert prerequisites.free_space(tmp_path / "shm") == 0
    assert prerequisites.free_space(tmp_path) > 0


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is Debian's")
def test_a_library_comes_out_of_the_distributions_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: libabsent9\nVersion: 1\nArchitecture: all\nMaintainer: t <t@localhost>\nDescription: t\n"
    )
    (tree / "usr/lib").mkdir(parents=True)
    shutil.copy(_some_library(), tree / "usr/lib/libabsent.so.9.0")
    (tree / "usr/lib/libabsent.so.9").symlink_to("libabsent.so.9.0")
    subprocess.run(["dpkg-deb", "--build", tree, tmp_path / "package"], check=True, capture_output=True)
    other = ABSENT._replace(name="libother.so.1")

    executable(
        tmp_path / "bin/apt-get", f'#!/bin/sh\n[ "$*" = "download libabsent9" ] && cp {tmp_path}/package a.deb\n'
    )
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert prerequisites.fetch([ABSENT], tmp_path / "got") == []
    assert not (tmp_path / "got/libabsent.so.9").is_symlink()
    assert prerequisites.missing_libraries([ABSENT], tmp_path / "got") == []
    assert prerequisites.fetch([other], tmp_path / "got") == [other], "the package does not hold it"

    executable(tmp_path / "bin/apt-get", "#!/bin/sh\nexit 100\n")
    assert prerequisites.fetch([ABSENT], tmp_path / "none") == [ABSENT], "no such package, or no network"
    assert not (tmp_path / "none").exists()


def test_without_a_package_manager_nothing_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prerequisites.fetch([ABSENT], tmp_path) == [ABSENT]


def test_the_list_of_libraries_is_what_the_installed_packages_link() -> None:
    """A new lock may bring a package that links something else: name it in requirements/prerequisites.py."""
    files = [path for path in Path(sys.prefix, "lib").rglob("*.so*") if path.is_file()]
    listed = {need.name for need in prerequisites.LIBRARIES["cpu"]}
    brought = {path.name for path in files} - listed  # set-up may have put a listed one into .venv/lib
    of_glibc = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"}
    of_glibc.add("ld-linux-x86-64.so.2")
    # Threading layers that numba goes without, and Triton's tools for profiling; what lies outside of site-packages is
    # what Intel's OpenMP offers to accelerators.
    unused = ("tbbpool", "omppool", "triton/")
    used = [path for path in files if "site-packages" in path.parts and not any(name in str(path) for name in unused)]
    linked = set().union(*map(_links, used))
    assert linked - brought - of_glibc == listed


def _some_library() -> Path:
    """A shared library that loads by itself."""
    return next(Path(sys.prefix, "lib").rglob("_yaml*.so"))


@pytest.mark.skipif(not shutil.which("make"), reason="no make")
def test_a_linked_environment_is_taken_as_it_is(tmp_path: Path) -> None:
    clone, other = tmp_path / "clone", tmp_path / "other"
    shutil.copytree(ROOT / "requirements", clone / "requirements")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, clone)

    def sets_up() -> bool:
        command = ["make", "-n", "lint", "DEVICE=cpu"]
        shown = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout
        assert "ruff check" in shown
        return "setup.sh" in shown

    assert sets_up()
    (other / ".venv").mkdir(parents=True)
    (clone / ".venv").symlink_to(other / ".venv")
    assert not sets_up()


def _links(path: Path) -> set[str]:
    """The libraries that an ELF file asks the loader for (DT_NEEDED of its dynamic section, ELF-64 little-endian)."""
    with path.open("rb") as file:
        if file.read(6) != b"\x7fELF\x02\x01":
            return set()
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, headers + index * size) for index in range(count)]
    load = [(address, offset, length) for kind, _, offset, address, _, length in segments if kind == 1]
    entries = []
    for kind, _, offset, _, _, length in segments:
        if kind == 2:
            entries = [struct.unpack_from("<qQ", data, place) for place in range(offset, offset + length, 16)]
    names = next((value for tag, value in entries if tag == 5), 0)
    table = next(
        (names - address + offset for address, offset, length in load if address <= names < address + length), 0
    )
    starts = [table + value for tag, value in entries if tag == 1]
    return {data[start : data.find(b"\0", start)].decode() for start in starts}
