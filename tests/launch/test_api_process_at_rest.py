"""The API process has loaded all of Refrain before its first request, and set it aside from the garbage collector."""

import subprocess
import sys

from tests.stack import ROOT

LOOK = """
import gc, sys
from ttsproject.wsgi import application
frozen, before = gc.get_freeze_count(), set(sys.modules)
environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/voices", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80",
           "HTTP_HOST": "127.0.0.1", "wsgi.input": sys.stdin.buffer, "wsgi.url_scheme": "http"}
told = []
list(application(environ, lambda status, headers: told.append(status)))
assert told == ["401 Unauthorized"], told
late = sorted(name for name in set(sys.modules) - before if name.split(".")[0] in {"synth", "tenants", "ttsproject"})
print(frozen > 50_000, late)
"""


def test_nothing_of_ours_is_loaded_by_a_request() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "True []\n", done.stderr
