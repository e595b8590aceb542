"""When a webhook that failed is sent again. Called by service/webhooks/outcomes.py, which keeps the time in the row."""

from collections.abc import Callable, Sequence

JITTER = 0.1
# A receiver may ask for more patience than the ladder has, but not for ever.
LONGEST_WISH = 86_400.0


def next_pause(
    tries: int, pauses: Sequence[float], *, retry_after: float | None, random: Callable[[], float]
) -> float | None:
    """Seconds until the next try after `tries` of them, None to give up. `random` gives numbers from 0 up to 1."""
    if tries > len(pauses):
        return None
    pause = pauses[tries - 1] * (1 + JITTER * (2 * random() - 1))
    return max(pause, min(retry_after or 0.0, LONGEST_WISH))
