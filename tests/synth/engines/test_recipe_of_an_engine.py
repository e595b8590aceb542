"""The example of docs/recipes/add-an-engine.md is an engine: built as the page says, it passes the contract suite."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from synth import wiring
from tests.synth.engines.speaking import SENTENCES, segment

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/recipes/add-an-engine.md").read_text(encoding="utf-8")
PACKAGE = "engines_of_the_recipe"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of one engine, named as its file must be: for the engine."""
    [example] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    name = re.search(r'^NAME = "(\w+)"$', example, re.MULTILINE)
    assert name
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / f"{name[1]}.py").write_text(example, encoding="utf-8")
    return folder


def test_the_example_passes_the_contract_of_engines(package: Path) -> None:
    suite = [ROOT / "tests/synth/engines/test_engine_contract.py", f"--engine-packages={PACKAGE}"]
    path = os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")])
    # A run of its own, also where this one is a worker of a parallel run.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *suite],
        cwd=ROOT,
        env=own | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b2[0-9] passed", done.stdout), done.stdout
    assert "1 skipped" not in done.stdout, "the example has every control that the suite asks for"


def test_a_worker_loads_the_example(package: Path, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(package.parent))
    settings.REFRAIN = {**settings.REFRAIN, "ENGINE_PACKAGES": ["synth.engines", PACKAGE]}
    engine = wiring.load_engine("chirp")
    assert engine.synthesize(segment(engine.card, SENTENCES["en"], language="en")).duration > 1


def test_the_page_is_as_short_as_it_promises() -> None:
    prose = PAGE.partition("```python")[0]
    assert len(re.findall(r"^\d+\. ", prose, re.MULTILINE)) == 10


def test_the_example_is_in_the_style_of_the_tree(package: Path) -> None:
    for tool in (["check"], ["format", "--check"]):
        ruff = Path(sys.executable).with_name("ruff")
        configured = [ruff, *tool, "--config", str(ROOT / "pyproject.toml"), str(package / "chirp.py")]
        done = subprocess.run(configured, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
