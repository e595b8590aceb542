"""`.env.example` lists every setting with its default: operators have no other list."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "ttsproject/settings.py", ROOT / "ttsproject/engine_settings.py"]
# Read beside the settings, by the launcher.
READ_ELSEWHERE = {"PORT", "REFRAIN_MIN_FREE_GB"}
LISTED = re.findall(r"^#([A-Z0-9_]+)=(.*)$", (ROOT / ".env.example").read_text(encoding="utf-8"), re.MULTILINE)
# What a default depends on: a folder, a secret, or what `make run` sets itself.
NO_FIXED_DEFAULT = {
    "REFRAIN_SECRET_KEY", "REFRAIN_KEY_PEPPERS", "REFRAIN_URL_SIGNING_KEY", "REFRAIN_VAR_DIR", "REFRAIN_FILES_ROOT",
    "REFRAIN_ENGINES", "REFRAIN_AUDIT_KEYS", "DATABASE_URL", "CELERY_BROKER_URL",
}  # fmt: skip
PROBE = """
import json, sys
from pathlib import Path
from ttsproject import settings
known = {name: getattr(settings, name) for name in dir(settings) if name.isupper()}
json.dump(known, sys.stdout, default=lambda value: str(value) if isinstance(value, Path) else type(value).__name__)
"""


def test_every_setting_is_listed_and_nothing_else() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCES)
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z0-9_]+)"', text))
    assert {name for name, _ in LISTED} == read | READ_ELSEWHERE


@pytest.mark.parametrize("database", ["", "postgresql://refrain@db.example/refrain"])
def test_what_is_listed_is_the_default(database: str) -> None:
    listed = {name: value for name, value in LISTED if name not in NO_FIXED_DEFAULT}
    assert settings_with({**listed, "DATABASE_URL": database}) == settings_with({"DATABASE_URL": database})


def settings_with(variables: dict[str, str]) -> dict[str, object]:
    """Django's settings as a process has them whose environment holds these variables alone."""
    own = {"PATH": os.environ["PATH"], "REFRAIN_SECRET_KEY": "tests-only", **variables}
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    told: dict[str, object] = json.loads(done.stdout)
    return told
