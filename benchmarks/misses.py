"""What the platform adds to a miss of one sentence: accept to answer, less the engine's own time.

Run: python -m benchmarks.misses [--quick] [--requests 60]
"""

from __future__ import annotations

import argparse
import statistics
import time

from benchmarks.stacks import running
from tests.engines import counting
from tests.stack import Stack

FORMATS = ("mp3", "wav", "flac", "opus")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    requests = 5 if arguments.quick else arguments.requests
    print("| store | format | median ms | p95 ms | of the file store's mp3 |")
    print("|---|---|---|---|---|")
    base: float | None = None
    for store in ("files", "s3"):
        with running(s3=store == "s3", env={"COUNTING_SECONDS": "0.2"}) as stack:
            for format_name in FORMATS:
                added = _added(stack, format_name, requests)
                median = statistics.median(added)
                base = base or median
                p95 = statistics.quantiles(added, n=20)[18]
                print(f"| {store} | {format_name} | {median:.1f} | {p95:.1f} | {median / base:.2f} |", flush=True)


def _added(stack: Stack, format_name: str, count: int) -> list[float]:
    """Milliseconds beyond the engine's, for `count` sentences one after the other; the first five only warm up."""
    took: dict[str, float] = {}
    with stack.client() as client:
        for number in range(count + 5):
            text = f"This is {format_name} sentence {number} of the run."
            started = time.perf_counter()
            answer = client.post("/v1/speech", json={"text": text, "format": format_name, "wait": 60})
            took[text] = time.perf_counter() - started
            assert answer.json()["cache"] == "miss", answer.text
    engine = _engine_seconds(stack)
    return [(seconds - engine[text]) * 1000 for text, seconds in list(took.items())[5:]]


def _engine_seconds(stack: Stack) -> dict[str, float]:
    times: dict[str, dict[str, float]] = {}
    for line in counting.lines(stack.runs_log):
        times.setdefault(line["text"], {})[line["event"]] = line["time"]
    return {text: found["end"] - found["start"] for text, found in times.items() if "end" in found}


if __name__ == "__main__":
    main()
