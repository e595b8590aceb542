"""Makes sure of the programs that the tests need from the system; installs them where it may, or says the line.

`make test` runs this file by itself, so it needs the standard library alone.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# Program -> Debian package. PostgreSQL's server programs are not on the PATH there.
PROGRAMS = {"postgres": "postgresql", "ffprobe": "ffmpeg", "chromium": "chromium", "curl": "curl"}


def main() -> int:
    missing = sorted(package for program, package in PROGRAMS.items() if not _is_there(program))
    if not missing:
        return 0
    line = f"apt-get install --no-install-recommends --yes {' '.join(missing)}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"The tests need more programs. On Debian or Ubuntu: sudo {line}", file=sys.stderr)
        return 1
    print(f"Installing what the tests need: {line}", flush=True)
    return _run(["apt-get", "update", "--quiet=2"]) or _run([*line.split(), "--quiet=2"])


def _is_there(program: str) -> bool:
    folders = [str(path) for path in Path("/usr/lib/postgresql").glob("*/bin")]
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), *folders])) is not None


def _run(command: Sequence[str]) -> int:
    return subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode


if __name__ == "__main__":
    sys.exit(main())
