"""Every test that docs/security.md names exists, and every item of both lists has a line there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOLD = (ROOT / "docs/security.md").read_text(encoding="utf-8")
ITEMS = [*(f"API{number}" for number in range(1, 11)), *(f"V{number}" for number in range(1, 18))]
WITHOUT = {"V10", "V17"}  # of what is not there


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_names_tests_that_exist(item: str) -> None:
    (line,) = re.findall(rf"^\| {item} .*$", TOLD, re.MULTILINE)
    named = re.findall(r"`(tests/[^`]+)`", line)
    assert bool(named) is (item not in WITHOUT)
    for path in named:
        found = ROOT / path
        files = [found] if found.is_file() else list(found.glob("test_*.py"))
        assert files, path
        assert any("def test_" in file.read_text(encoding="utf-8") for file in files), path
