"""What must be true before anything starts: a free port, room on the disk, nobody else at work in this folder.

`make run` runs this file by itself before it installs anything, so it needs the standard library alone.
"""

import errno
import fcntl
import os
import re
import shutil
import socket
import sys
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[2]
GIGABYTE = 10**9
DEFAULT_PORT = 8000
DEFAULT_MIN_FREE_GB = 1.0
# Of the packages of requirements/run.txt, once installed.
INSTALLED_GB = 1.5


class CannotStart(Exception):  # noqa: N818 - it is not an error but an answer
    """One sentence that says what is in the way and what to do about it."""


def check(environment: dict[str, str], var: Path, *, install_gb: float = 0.0) -> None:
    """Raises CannotStart. `install_gb` is what will still be installed beside `var`."""
    check_disk(environment, var, install_gb)
    check_port(port(environment))


def port(environment: dict[str, str]) -> int:
    text = environment.get("PORT") or str(DEFAULT_PORT)
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise CannotStart(f"PORT is {text!r}; it takes a number from 1 to 65535.")
    return int(text)


def check_port(number: int) -> None:
    with socket.socket() as probe:
        # As the server will: connections of the last run that still linger do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as error:
            raise CannotStart(_port_sentence(number, error)) from error


def check_disk(environment: dict[str, str], var: Path, install_gb: float) -> None:
    text = environment.get("REFRAIN_MIN_FREE_GB") or str(DEFAULT_MIN_FREE_GB)
    try:
        needed = float(text) + install_gb
    except ValueError as error:
        raise CannotStart(f"REFRAIN_MIN_FREE_GB is {text!r}; it takes a number of gigabytes.") from error
    place = next(folder for folder in (var, *var.parents) if folder.exists())
    free = shutil.disk_usage(place).free / GIGABYTE
    if free < needed:
        raise CannotStart(
            f"The disk of {var} has {free:.1f} GB free and Refrain needs {needed:.1f} GB: free some space first."
        )


def lock(var: Path) -> TextIO:
    """Hold the returned file open for as long as Refrain runs from this folder."""
    var.mkdir(parents=True, exist_ok=True)
    file = (var / "run.lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CannotStart(_lock_sentence(var, file)) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _port_sentence(number: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        other = number + 1 if number < 65535 else DEFAULT_PORT
        return (
            f"Port {number} of 127.0.0.1 is taken by another program: stop that, or choose another one, as in "
            f"`make run PORT={other}`."
        )
    return f"Port {number} of 127.0.0.1 cannot be used ({error.strerror}): choose another, as in `make run PORT=8080`."


def _lock_sentence(var: Path, file: TextIO) -> str:
    file.seek(0)
    process = file.read().strip()
    which = f" (process {process})" if process else ""
    return f"Refrain runs already with the data in {var}{which}: stop it there by Ctrl-C first."


def _port_of_dotenv() -> dict[str, str]:
    """The launcher reads .env properly; the port alone is worth knowing before anything is installed."""
    try:
        text = (ROOT / ".env").read_text(encoding="utf-8")
    except OSError:
        return {}
    found = re.search(r"^\s*(?:export\s+)?PORT=['\"]?(\d+)", text, re.MULTILINE)
    return {"PORT": found[1]} if found else {}


def main() -> int:
    var = Path(os.environ.get("REFRAIN_VAR_DIR") or ROOT / "var")
    installed = (ROOT / ".venv").exists()
    try:
        lock(var).close()
        check({**_port_of_dotenv(), **os.environ}, var, install_gb=0 if installed else INSTALLED_GB)
    except CannotStart as sentence:
        print(sentence, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
