"""A decoder that crashes, hangs, eats memory or lies is a refusal; it sees nothing of the worker and leaves nothing."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from synth.audio import answers
from synth.audio.apart import CODE, read_reference_apart
from synth.audio.reading import read_reference
from synth.audio.references import ReferenceAudio, ReferenceLimits, ReferenceRefused

from .uploads import LIMITS, file_of, spoken

GOOD = file_of(spoken(), "WAV")
READ_IT = "import sys; data = sys.stdin.buffer.read(); "
SEEN = {"PYTHONPATH": str(CODE)}
# What a decoder does in its process, once that is confined, in place of decoding.
INSIDE = """
import os, socket, sys, time
from synth.audio import sandbox
def read_reference(data, *, limits):
    {body}
sandbox.read_reference = read_reference
sys.exit(sandbox.main())
"""


def _child(program: str) -> Sequence[str]:
    return (sys.executable, "-P", "-s", "-c", program)


def _inside(body: str) -> Sequence[str]:
    return _child(INSIDE.format(body=body))


def _code(child: Sequence[str], *, limits: ReferenceLimits = LIMITS, data: bytes = GOOD) -> str:
    with pytest.raises(ReferenceRefused) as caught:
        read_reference_apart(data, limits=limits, child=child)
    return caught.value.code


def _children() -> set[str]:
    """Of this process, also dead ones that nobody waited for."""
    tasks = Path("/proc/self/task").iterdir()
    return {child for task in tasks for child in (task / "children").read_text().split()}


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture(autouse=True)
def _nothing_is_left() -> object:
    before, files = _children(), _open_files()
    yield
    assert _children() <= before
    assert _open_files() == files


@pytest.mark.parametrize("signal_name", ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL"])
def test_a_decoder_that_crashes_is_a_refusal(signal_name: str) -> None:
    assert _code(_inside(f"os.kill(os.getpid(), {int(getattr(signal, signal_name))})")) == "undecodable"


def test_a_real_fault_of_memory_is_a_refusal() -> None:
    assert _code(_inside("import ctypes; ctypes.string_at(0)")) == "undecodable"


def test_an_exception_that_nobody_thought_of_is_a_refusal() -> None:
    assert _code(_inside("raise RuntimeError('a defect')")) == "undecodable"


def test_a_decoder_that_fills_the_memory_is_a_refusal() -> None:
    assert _code(_inside("held = [bytes(1 << 24) for _ in range(1000)]")) == "too_costly"


def test_a_decoder_that_uses_up_its_time_is_a_refusal() -> None:
    limits = ReferenceLimits(seconds_of_work=60.0, cpu_seconds=2)
    assert _code(_inside("while True: pass"), limits=limits) == "too_costly"


def test_a_decoder_that_hangs_is_ended_at_the_deadline() -> None:
    limits = ReferenceLimits(seconds_of_work=2.0)
    started = time.monotonic()
    assert _code(_child(READ_IT + "import time; time.sleep(600)"), limits=limits) == "decoder_timed_out"
    assert time.monotonic() - started < 30


def test_one_that_never_takes_the_file_is_ended_too() -> None:
    limits = ReferenceLimits(seconds_of_work=2.0)
    data = GOOD + bytes(1 << 20)  # more than a pipe holds
    assert _code(_child("import time; time.sleep(600)"), limits=limits, data=data) == "decoder_timed_out"


def test_what_a_decoder_started_ends_with_it(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = READ_IT + (
        "import subprocess; sleeper = subprocess.Popen(['sleep', '600']); "
        f"open({str(note)!r}, 'w').write(str(sleeper.pid))"
    )
    limits = ReferenceLimits(seconds_of_work=5.0)
    assert _code(_child(program), limits=limits) in ("decoder_timed_out", "undecodable")
    pid = int(note.read_text())
    until = time.monotonic() + 30
    while _is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_answer_without_end_is_not_taken_in() -> None:
    program = READ_IT + "\nwhile True: sys.stdout.buffer.write(bytes(1 << 20))"
    assert _code(_child(program)) in ("undecodable", "too_costly")


def test_no_python_to_start_is_the_machines_trouble() -> None:
    assert _code(("/nowhere/python",)) == "decoder_unavailable"


def test_no_decoder_installed_is_the_machines_trouble() -> None:
    without = "import sys; sys.modules['soundfile'] = None; from synth.audio import sandbox; sys.exit(sandbox.main())"
    assert _code(_child(without)) == "decoder_unavailable"


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')",
        "open('/dev/null', 'w')",
        "socket.socket()",
        "os.pipe()",
    ],
)
def test_no_file_and_no_socket_can_be_opened_in_there(attempt: str) -> None:
    tried = f"try: {attempt}\n    except OSError: os.kill(os.getpid(), 9)"
    assert _code(_inside(tried)) == "too_costly"  # it was forbidden, and ended itself by a signal


def test_nothing_of_the_workers_environment_is_in_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFRAIN_SECRET_KEY", "a secret of the worker")
    told = "known = {'PATH', 'PYTHONPATH', 'LC_ALL', 'LC_CTYPE', 'OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS', 'PWD'}"
    assert _code(_inside(f"{told}\n    os.kill(os.getpid(), 9 if set(os.environ) <= known else 11)")) == "too_costly"


def test_neither_django_nor_celery_is_in_there() -> None:
    heavy = "{name.partition('.')[0] for name in sys.modules} & {'django', 'celery', 'redis', 'torch', 'onnxruntime'}"
    assert _code(_inside(f"os.kill(os.getpid(), 11 if {heavy} else 9)")) == "too_costly"


def test_it_ends_by_itself_where_its_worker_was_killed() -> None:
    """Nobody is left then who would end it."""
    limits = json.dumps({"seconds_of_work": 0.0})  # the alarm is five seconds later
    command = [*_inside("while True: time.sleep(1)"), limits]
    ran = subprocess.run(command, check=False, input=GOOD, capture_output=True, env=SEEN, timeout=60)
    assert ran.returncode == -signal.SIGALRM


def test_standing_in_another_folder_does_not_choose_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "synth").mkdir()
    (tmp_path / "synth" / "__init__.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert read_reference_apart(GOOD, limits=LIMITS).format == "wav"
    assert (CODE / "synth" / "audio" / "sandbox.py").is_file()


HEADER = answers.PREFIX.pack(answers.MAGIC, 2)
WHOLE = answers.accepted(read_reference(GOOD))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"RREF",
        b"Traceback (most recent call last)",
        HEADER + b"{",
        HEADER + b"{}",
        HEADER + b"[]",
        HEADER + b"\xff\xfe",
        answers.PREFIX.pack(answers.MAGIC, 0xFFFFFFFF) + b"{}",
        answers.PREFIX.pack(answers.MAGIC, 4000) + b"[" * 4000,
        answers._framed({"code": "<b>anything</b>", "params": {}}),
        answers._framed({"code": "too_short", "params": {}}),
        answers._framed({"code": "too_short", "params": {"seconds": "x" * 500, "least": 3}}),
        answers._framed({"code": "too_short", "params": {"seconds": float("nan"), "least": 3}}),
        answers._framed({"code": "too_short", "params": {"seconds": [1], "least": {}}}),
        answers._framed({"code": "too_short", "params": {"seconds": 1, "least": 10**400}}),
        answers._framed({"code": ["too_short"], "params": {}}),
        answers._framed({"code": "bomb", "params": None}),
        answers._framed({"format": "exe", "rate": 24000, "snr_db": 30.0}) + bytes(4 * 48000),
        answers._framed({"format": "wav", "rate": 10**9, "snr_db": 30.0}) + bytes(4 * 48000),
        answers._framed({"format": "wav", "rate": "24000", "snr_db": 30.0}) + bytes(4 * 48000),
        answers._framed({"format": "wav", "rate": 24000, "snr_db": float("nan")}) + bytes(4 * 48000),
        answers._framed({"format": "wav", "rate": 24000}) + bytes(4 * 48000),
        answers._framed({"format": ["wav"], "rate": 24000, "snr_db": 30.0}) + bytes(4 * 48000),
        WHOLE[:-1],
        WHOLE[: len(WHOLE) // 3],
        WHOLE + bytes(2 * 24000 * 40),
    ],
)  # fmt: skip
def test_an_answer_that_is_not_whole_and_ours_is_not_believed(answer: bytes) -> None:
    with pytest.raises(ValueError):
        answers.parse(answer, limits=LIMITS)


def test_an_answer_comes_back_as_it_was_given() -> None:
    given = read_reference(GOOD)
    back = answers.parse(answers.accepted(given), limits=LIMITS)
    assert isinstance(back, ReferenceAudio)
    assert np.array_equal(back.pcm.samples, given.pcm.samples)
    assert back.fingerprint == given.fingerprint
    with pytest.raises(ReferenceRefused) as caught:
        answers.parse(answers.refused(ReferenceRefused("too_large", {"most": 5})), limits=LIMITS)
    assert (caught.value.code, caught.value.params) == ("too_large", {"most": 5})
