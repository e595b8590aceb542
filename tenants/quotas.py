"""Quotas as values: how much a tenant or a key may ask for and have made in a day or a month, and what is left of it.

Redis counts what is asked (`synth/cache/hit.lua`), the database what engines speak (`synth/service/quotas.py`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import Any, NamedTuple

from tenants.errors import Problem
from tenants.errors import untranslated as _

MAX_QUOTA = 10**15
TENANT, KEY = "tenant", "key"
DAY, MONTH = "day", "month"


class Quotas(NamedTuple):
    """Those of a tenant or of a key; 0 is none. The names are those of the columns, the settings and the API.

    `epoch` changes when they are changed: what is counted only while there is a quota is then counted anew.
    """

    characters_per_day: int = 0
    characters_per_month: int = 0
    synthesis_per_day: int = 0
    synthesis_per_month: int = 0
    max_voices: int = 0
    max_storage: int = 0
    epoch: int = 0

    @property
    def asked(self) -> tuple[int, int]:
        """Of characters that requests have, whoever answers them: a day, a month."""
        return self[0], self[1]

    @property
    def spoken(self) -> tuple[int, int]:
        """Of characters that engines speak: a day, a month."""
        return self[2], self[3]


NO_QUOTAS = Quotas()
NAMES = Quotas._fields[:-1]
PERIODS = {
    "characters_per_day": DAY,
    "characters_per_month": MONTH,
    "synthesis_per_day": DAY,
    "synthesis_per_month": MONTH,
}
ASKED, SPOKEN = NAMES[:2], NAMES[2:4]
UNITS = {"max_voices": "voices", "max_storage": "bytes"}
CHARACTERS = "characters"


def quotas_of(row: Any, default: Quotas = NO_QUOTAS) -> Quotas:
    """What the columns of a row mean. Equal to none, it is NO_QUOTAS itself: who asks for that asks no more."""
    own = (getattr(row, name) for name in NAMES)
    found = [usual if value is None else value for value, usual in zip(own, default, strict=False)]
    epoch = getattr(row, "quotas_epoch", 0)  # settings have none
    return Quotas._make([*found, epoch]) if any(found) else NO_QUOTAS


def begins(period: str, day: date) -> date:
    return day if period == DAY else day.replace(day=1)


def ends(period: str, day: date) -> datetime:
    """When the day or the month is over, in UTC."""
    last = day if period == DAY else (day.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QuotaState:
    """What is left of one quota. `scope` is tenant or key; `used` is None where it is not known."""

    scope: str
    quota: str
    limit: int
    used: int | None = None

    @property
    def name(self) -> str:
        return f"{self.scope}-{self.quota.replace('_', '-')}"

    def seconds_left(self, now: datetime) -> float | None:
        """Until the period is over; None for what has none."""
        period = PERIODS.get(self.quota)
        return (ends(period, now.date()) - now).total_seconds() if period else None

    def policy(self, now: datetime) -> str:
        """A member of `RateLimit-Policy`: the window is the present day's or month's."""
        period = PERIODS.get(self.quota)
        said = f'"{self.name}";q={self.limit};qu="{UNITS.get(self.quota, CHARACTERS)}"'
        if period is None:
            return said
        over = ends(period, now.date())
        first = begins(period, now.date())
        return f"{said};w={int((over.date() - first).days) * 86_400}"

    def state(self, now: datetime) -> str | None:
        """A member of `RateLimit`."""
        if self.used is None:
            return None
        said = f'"{self.name}";r={max(0, self.limit - self.used)}'
        left = self.seconds_left(now)
        return said if left is None else f"{said};t={ceil(left)}"


class QuotaExceeded(Problem):
    """One that cannot be met: nothing of the request was counted."""

    status = 429
    code = "quota_exceeded"
    title = _("Quota exceeded")
    detail = _("This would exceed the quota %(quota)s of this account: %(used)s of %(limit)s are used.")
    of_key = _("This would exceed the quota %(quota)s of this key: %(used)s of %(limit)s are used.")

    def __init__(self, state: QuotaState, *, others: Iterable[Any] = ()) -> None:
        """`others` are the limits that let the request in."""
        now = datetime.now(UTC)
        left = state.seconds_left(now)
        told = {"quota": state.quota, "used": state.used, "limit": state.limit}
        members = {**told, "scope": state.scope}
        period = PERIODS.get(state.quota)
        if period:
            members["resets_at"] = ends(period, now.date()).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.exceeded = state
        self.allowances = (*others, state)
        detail = self.of_key if state.scope == KEY else None
        super().__init__(detail, params=told, retry_after=left, members=members)


def exceeded(states: Iterable[QuotaState], amount: int) -> QuotaState | None:
    """Of those that would be exceeded by so much more the one that lasts longest."""
    over = [state for state in states if state.limit and (state.used or 0) + amount > state.limit]
    return max(over, key=lambda state: PERIODS.get(state.quota) == MONTH, default=None)
