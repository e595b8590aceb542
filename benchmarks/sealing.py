"""What it costs to seal and to open a sound, beside hashing it: `python -m benchmarks.sealing`."""

import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from uuid import UUID

from synth.sealing.format import Label, label_key, open_sealed, seal
from tenants.encryption import SealingKey

SIZES = {"10 kB, a short MP3": 10_000, "256 kB, the largest in Redis": 256_000, "8 MB": 8_000_000}
ROUNDS = 7
SECONDS = 0.2


def main() -> None:
    key = SealingKey(f"dek_{'0' * 32}", secrets.token_bytes(32))
    label = Label(UUID(int=1), "tenant/ab/abcd.mp3", "audio/mpeg")
    for what, size in SIZES.items():
        data = secrets.token_bytes(size)
        sealed = seal(data, label_key(key, label))
        hashed = _best(lambda data=data: sha256(data).digest())
        sealing = _best(lambda data=data: seal(data, label_key(key, label)))
        opening = _best(lambda sealed=sealed: open_sealed(sealed, label_key(key, label)))
        print(f"{what}: SHA-256 {_us(hashed)}, seal {_us(sealing)}, open {_us(opening)}; +{len(sealed) - size} bytes")


def _best(call: Callable[[], object]) -> float:
    """Seconds of one call, of the best of some rounds."""
    found = []
    for _ in range(ROUNDS):
        count, started = 0, time.process_time()
        while time.process_time() - started < SECONDS:
            call()
            count += 1
        found.append((time.process_time() - started) / count)
    return min(found)


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs"


if __name__ == "__main__":
    main()
