"""The admin's first page: warnings, figures of today and of thirty days, charts, and tables that lead to rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from synth import dashboard
from synth.admin import charts
from synth.admin.alarm_words import LISTS, warned
from synth.admin.amounts import count, energy, money, number, seconds_of
from synth.admin.base import excerpt, link
from synth.admin.rule_words import duration
from synth.dashboard import Figures, Requests, State
from synth.models import LatencyDay
from synth.observed import Latency
from synth.savings import Saved, period
from tenants.types import TenantRef

SAMPLED = timedelta(hours=24)
What = LatencyDay.What
# Whether this user may see the rows of a model, as `synth_entry`.
MaySee = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Card:
    """One figure, of today and of all the days; `month` is empty where it is of this moment."""

    title: Any
    today: str
    month: str
    model: str

    @property
    def address(self) -> str:
        return reverse(f"admin:{self.model}_changelist")


@dataclass(frozen=True, slots=True)
class Table:
    title: Any
    headers: list[Any]
    rows: list[list[Any]]
    model: str

    @property
    def address(self) -> str:
        return reverse(f"admin:{self.model}_changelist")

    @property
    def is_pairs(self) -> bool:
        """Without headers it is a list of names with their values."""
        return not self.headers

    @property
    def table(self) -> dict[str, Any]:
        return {"headers": self.headers, "rows": self.rows}


def page(may_see: MaySee, *, tenant: TenantRef | None = None) -> dict[str, Any]:
    """What the template shows of what the user may see. Of one tenant: without the parts that all tenants share."""
    days = period(None, None)
    assert days is not None  # noqa: S101 - no days are asked for that could be wrong
    found = dashboard.figures(*days, tenant=tenant)
    seen = None if tenant else dashboard.state()
    taken = [] if tenant else dashboard.samples(timezone.now() - SAMPLED)
    alarms = dashboard.alarms(found, seen, taken, tenant=tenant)
    shown = [*charts.of_days(found), *([] if tenant else charts.of_hours(taken))]
    tables = [*_tables(found), *(_state_tables(seen) if seen else [])]
    return {
        "warnings": [warned(alarm) for alarm in alarms if may_see(LISTS[alarm.condition])],
        "cards": [card for card in _cards(found, seen) if may_see(card.model)],
        "charts": [chart for chart in shown if may_see(chart.model)],
        "tables": [table for table in tables if may_see(table.model)],
    }


# --- Cards ----------------------------------------------------------------------------------------------------------


def _cards(found: Figures, seen: State | None) -> Iterable[Card]:
    today, month = found.requests[found.today], found.total
    yield Card(_("Requests"), count(today.requests), count(month.requests), "tenants_usageday")
    yield Card(_("Hit rate"), _rate(today), _rate(month), "synth_missday")
    yield from _saved(found)
    if found.latency:
        yield _times(_("A hit takes"), found, What.HIT)
        yield _times(_("A miss takes"), found, What.MISS)
    yield Card(_("Failed jobs"), count(today.failed), count(month.failed), "synth_failureday")
    if seen is not None:
        waiting = sum(queue.waiting for queue in seen.queues.values())
        oldest = max((queue.oldest for queue in seen.queues.values()), default=0.0)
        yield Card(_("Sentences waiting"), count(waiting), gettext("oldest: %s") % duration(oldest), "synth_synthesis")


def _saved(found: Figures) -> Iterable[Card]:
    today, month, report = found.savings.days[-1].saved, found.savings.total, found.savings
    tellers: tuple[tuple[Any, Callable[[Saved], str | None]], ...] = (
        (_("Engine time saved"), lambda saved: seconds_of(saved.engine_seconds)),
        (_("Engine time spent"), lambda saved: seconds_of(saved.engine_seconds_spent)),
        (_("Money saved"), lambda saved: money(saved, report)),
        (_("Energy saved"), lambda saved: energy(saved, report)),
    )
    for title, tell in tellers:
        if tell(month) is not None:
            yield Card(title, tell(today) or "–", tell(month) or "–", "synth_engineday")


def _times(title: Any, found: Figures, what: What) -> Card:
    return Card(
        title, _median(found.latency_of(what, found.today)), _median(found.latency_of(what)), "synth_latencyday"
    )


def _median(latency: Latency) -> str:
    """Median and 95th percentile."""
    middle, high = latency.quantile(0.5), latency.quantile(0.95)
    return "–" if middle is None or high is None else f"{_time(middle)} · {_time(high)}"


def _time(seconds: float) -> str:
    return f"{number(seconds * 1000, 1)} ms" if seconds < 1 else f"{number(seconds, 1)} {gettext('s')}"


def _rate(requests: Requests) -> str:
    return "–" if requests.hit_rate is None else f"{number(100 * requests.hit_rate, 1)} %"


# --- Tables ---------------------------------------------------------------------------------------------------------


def _tables(found: Figures) -> Iterable[Table]:
    yield Table(
        _("What was said most"),
        [_("text"), _("tenant"), _("answers")],
        [
            [
                link("synth_entry", phrase.entry.id, excerpt(phrase.entry.text)) if phrase.entry else gettext("gone"),
                phrase.entry.tenant.name if phrase.entry else "",
                count(phrase.answers),
            ]
            for phrase in found.phrases
        ],
        "synth_phraseday",
    )
    if found.tenants:
        yield Table(
            _("Tenants with the most requests"),
            [_("tenant"), _("requests"), _("hit rate"), _("characters"), _("failed")],
            [
                [
                    link("tenants_tenant", tenant.id, tenant.name),
                    count(used.requests),
                    _rate(used),
                    count(used.characters),
                    count(used.failed),
                ]
                for tenant, used in found.tenants
            ],
            "tenants_usageday",
        )


def _state_tables(seen: State) -> Iterable[Table]:
    yield Table(
        _("Engines"),
        [_("engine"), _("waiting"), _("running"), _("oldest")],
        [
            [engine, count(queue.waiting), count(queue.running), duration(queue.oldest)]
            for engine, queue in seen.queues.items()
        ],
        "synth_synthesis",
    )
    hooks = seen.webhooks
    yield Table(
        _("Webhooks"),
        [],
        [
            [gettext("endpoints that work"), count(int(hooks.get("well", 0)))],
            [gettext("endpoints that fail"), count(int(hooks.get("failing", 0)))],
            [gettext("endpoints that were given up"), count(int(hooks.get("given_up", 0)))],
            [gettext("webhooks that are due"), count(int(hooks["due"]))],
            [gettext("due for"), duration(hooks["oldest"])],
        ],
        "synth_webhookendpoint",
    )
    yield Table(_("Redis and storage"), [], list(_stores(seen)), "synth_sample")


def _stores(seen: State) -> Iterable[list[Any]]:
    if seen.redis is None:
        yield [gettext("Redis"), gettext("does not answer")]
    else:
        used = filesizeformat(seen.redis.used)
        most = filesizeformat(seen.redis.most) if seen.redis.most else gettext("no limit")
        yield [gettext("memory of Redis"), f"{used} / {most}"]
        yield [gettext("round trip to Redis"), _time(seen.redis.round_trip)]
        yield [gettext("keys evicted"), count(seen.redis.evicted)]
    if seen.storage:
        yield [gettext("audio in storage"), filesizeformat(seen.storage["bytes"])]
        yield [gettext("entries"), count(int(seen.storage["entries"]))]
        yield [gettext("objects to be deleted"), count(int(seen.storage["discarded"]))]
    yield [gettext("renditions to be joined"), count(seen.renditions.waiting)]
