"""Loading and speaking need no network and leave no file behind; a missing package is told by name."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.synth.engines.speaking import missing

pytestmark = pytest.mark.speech

SPEAK = """
    import socket
    import sys

    def refused(*args, **kwargs):
        raise AssertionError("an engine opened a connection")

    socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
    for name in {blocked!r}:
        sys.modules[name] = None
    from synth.errors import EngineUnavailable
    from synth.extensions import ExtensionPoint
    from tests.synth.engines.speaking import segment

    module = ExtensionPoint("synth.engines").load({name!r})
    try:
        engine = module.ENGINE(threads=1, options={{}})
    except EngineUnavailable as error:
        sys.exit(error.detail)
    language = engine.card.languages[-1]
    engine.synthesize(segment(engine.card, "{text}", language=language))
"""


def run(home: Path, name: str, *, text: str = "", blocked: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    code = textwrap.dedent(SPEAK.format(name=name, text=text, blocked=blocked))
    local = {"HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | local, check=False)


@pytest.mark.parametrize(("name", "text"), [("hibari", "Good morning."), ("kokoro", "東京です。")])
def test_an_engine_opens_no_connection_and_writes_no_file(tmp_path: Path, name: str, text: str) -> None:
    if missing(name):
        pytest.skip(missing(name))
    done = run(tmp_path, name, text=text)
    assert done.returncode == 0, done.stderr
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == []


@pytest.mark.parametrize(
    ("name", "package"),
    [("hibari", "hibari"), ("kokoro", "onnxruntime"), ("kokoro", "misaki"), ("kokoro", "pyopenjtalk")],
)
def test_a_missing_package_makes_the_engine_unavailable_and_is_named(tmp_path: Path, name: str, package: str) -> None:
    done = run(tmp_path, name, blocked=(package,))
    assert done.returncode == 1
    assert package in done.stderr
    assert "requirements/engines.txt" in done.stderr
    assert "Traceback" not in done.stderr
