"""Asks pip-audit about every pinned requirement: fails on a known weakness, and says what could not be asked about.

The services that know weaknesses are not reached from everywhere. Where neither answers, nothing is proven, and the
last line says so; run it where one is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FILES = ("api", "engines", "run", "dev", "torch", "indextts")
SERVICES = ("pypi", "osv")
LONGEST = 300
ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    requirements = pinned()
    for service in SERVICES:
        found = asked(service, requirements)
        if found is not None:
            return told(found)
    print(f"audit: SKIPPED: neither {' nor '.join(SERVICES)} could be asked about {len(requirements)} requirements")
    return 0


def pinned() -> list[str]:
    lines = (line for name in FILES for line in (ROOT / f"requirements/{name}.txt").read_text().splitlines())
    return sorted({line.strip() for line in lines if "==" in line and not line.startswith("#")})


def asked(service: str, requirements: list[str]) -> list[dict[str, Any]] | None:
    """What the service says of each; None where it says nothing of any."""
    listed = ROOT / ".venvs/audit/requirements.txt"
    listed.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    options = ["--disable-pip", "--no-deps", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(listed), "--vulnerability-service", service]
    try:
        done = subprocess.run(  # noqa: S603 - ours
            [*command, *options], capture_output=True, text=True, check=False, timeout=LONGEST
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, subprocess.TimeoutExpired):
        return None
    return found if any("skip_reason" not in item for item in found) else None


def told(found: list[dict[str, Any]]) -> int:
    skipped = [item["name"] for item in found if "skip_reason" in item]
    weak = [item for item in found if item.get("vulns")]
    for item in weak:
        for known in item["vulns"]:
            print(f"audit: {item['name']} {item['version']}: {known['id']}, mended in {known['fix_versions']}")
    print(f"audit: {len(found) - len(skipped)} asked about, {len(weak)} with known weaknesses; not known: {skipped}")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main())
