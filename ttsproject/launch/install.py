"""Makes an environment (.venv, or the one named) and installs a requirements file into it, unless that was done before.

`make` runs this file by itself with the system's Python, so it needs the standard library alone.
"""

import fcntl
import hashlib
import importlib.util
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ".venv"


def main() -> int:
    requirements = ROOT / sys.argv[1]
    if importlib.util.find_spec("ensurepip") is None:
        print("Python's venv is missing. On Debian or Ubuntu: apt-get install python3-venv", file=sys.stderr)
        return 1
    environment = ROOT / (sys.argv[2] if len(sys.argv) > 2 else DEFAULT)
    environment.mkdir(parents=True, exist_ok=True)
    with (environment / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return install(requirements, environment)


def install(requirements: Path, environment: Path) -> int:
    python = environment / "bin" / "python"
    stamp = environment / f"{requirements.stem}.sha256"
    wanted = digest(requirements)
    if _works(python) and stamp.exists() and stamp.read_text(encoding="ascii") == wanted:
        return 0
    if not _works(python):
        print(f"Making {environment.relative_to(ROOT)} ...", flush=True)
        venv.create(environment, with_pip=True, clear=False, symlinks=True)
    print(f"Installing {requirements.relative_to(ROOT)}: once, about a minute or two ...", flush=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", str(requirements)]
    if subprocess.run(pip, check=False).returncode:  # noqa: S603 - all words are ours
        print(f"{requirements.relative_to(ROOT)} could not be installed: see the lines above.", file=sys.stderr)
        return 1
    stamp.write_text(wanted, encoding="ascii")
    return 0


def digest(requirements: Path) -> str:
    """Of the file and of those that it includes, of the Python that installs, and of the folder: venvs do not move."""
    seen = hashlib.sha256(f"{sys.version}\n{ROOT}\n".encode())
    for path in _with_included(requirements):
        seen.update(path.read_bytes())
    return seen.hexdigest()


def _with_included(requirements: Path) -> Iterator[Path]:
    yield requirements
    for line in requirements.read_text(encoding="utf-8").splitlines():
        option, _, name = line.partition(" ")
        if option in {"-r", "--requirement"}:
            yield from _with_included(requirements.parent / name.strip())


def _works(python: Path) -> bool:
    command = [str(python), "-c", "import pip"]
    return python.exists() and subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
