"""What holds over the whole tree: layers, what the API process may load, and how large a file may grow."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ttsproject", "tenants", "synth")
SOURCES = sorted(
    path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts
)

# Speech models and what turns text into phonemes: they belong in the workers of the engines.
NEVER_IN_THE_API = {
    "torch", "torchaudio", "onnxruntime", "misaki", "hibari_tts", "pyopenjtalk", "jieba", "pypinyin", "transformers",
    "synth.tasks", "synth.worker", "synth.held",
}  # fmt: skip
DOORS_OF_WORKERS = {"synth.tasks", "synth.worker", "synth.held"}
MOST_MEGABYTES = 150
LONGEST_FILE = 400
LONGEST_FUNCTION = 60

PROBE = """
import json, re, sys
from pathlib import Path
from ttsproject.wsgi import application
from django.urls import get_resolver
get_resolver().url_patterns
# Not ru_maxrss: that one begins with the peak of the process that forked this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"modules": sorted(sys.modules), "megabytes": peak}))
"""

# What `celery -A ttsproject worker` has imported when it forks its child.
PARENT_PROBE = """
import json, sys
from ttsproject.celery import app
app.loader.init_worker()
assert "synth.drain_engine" in app.tasks
print(json.dumps({"modules": sorted(sys.modules)}))
"""


@pytest.fixture(scope="module")
def api_process() -> dict[str, object]:
    return ask(PROBE)


def ask(probe: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_api_process_loads_no_engine(api_process: dict[str, object]) -> None:
    assert not NEVER_IN_THE_API & set(api_process["modules"])


def test_the_parent_of_an_engine_worker_loads_no_engine() -> None:
    """So that nothing touches a GPU before the fork."""
    modules = set(ask(PARENT_PROBE)["modules"])
    assert modules > DOORS_OF_WORKERS
    assert not (NEVER_IN_THE_API - DOORS_OF_WORKERS) & modules
    assert {name for name in modules if name.startswith("synth.engines.")} == {"synth.engines.base"}


def test_api_process_stays_small(api_process: dict[str, object]) -> None:
    assert api_process["megabytes"] < MOST_MEGABYTES


def test_imports_point_down() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_file_and_no_function_is_too_long() -> None:
    too_long = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_FILE:
            too_long.append(str(path.relative_to(ROOT)))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    too_long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not too_long


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.read_text(encoding="utf-8").strip()
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent
