"""`python ttsproject/launch/alive.py api|worker|beat`: exit status 0 while that process of this container answers.

The containers' health checks run this file by itself, every half minute: it needs the standard library alone.
"""

import os
import sys
import time
import urllib.request
from pathlib import Path

TIMEOUT = 4.0
# Beat writes its schedule down every three minutes.
LATEST = 600.0


def api() -> bool:
    """It answers, and its database does. As the proxy asks, so that nothing is redirected to https."""
    return _answers("http://127.0.0.1:8000/readyz", {"X-Forwarded-Proto": "https"})


def worker() -> bool:
    """Its metrics answer: the process lives and its threads run. Whether work gets done, `manage.py doctor` tells."""
    return _answers(f"http://127.0.0.1:{os.environ['REFRAIN_METRICS_PORT']}/metrics", {})


def beat() -> bool:
    """It goes on with its schedule."""
    files = Path(os.environ["REFRAIN_VAR_DIR"]).glob("celerybeat-schedule*")
    return time.time() - max((file.stat().st_mtime for file in files), default=0.0) < LATEST


def _answers(url: str, headers: dict[str, str]) -> bool:
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the scheme is http, see above
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(not {"api": api, "worker": worker, "beat": beat}[sys.argv[1]]())
