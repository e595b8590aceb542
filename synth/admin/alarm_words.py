"""What needs somebody, in words: what is wrong, what to do about it, and where to look. For the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

from synth.admin.misses import parameter_name
from synth.dashboard import Alarm, Condition

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning as the page shows it."""

    title: str
    advice: str
    address: str


def warned(alarm: Alarm) -> Warned:
    title, advice = WORDS[alarm.condition](alarm.params)
    return Warned(title, advice, _address(alarm))


def _hit_rate(params: Params) -> tuple[str, str]:
    return (
        gettext("Only %(rate)d %% of %(requests)d requests were hits.") % params,
        gettext(
            "Look at why the others were none. Near misses want equal requests, expired ones a longer TTL, evicted"
            " ones more memory for Redis; what is said for the first time may be warmed."
        ),
    )


def _redis_away(_params: Params) -> tuple[str, str]:
    return (
        gettext("Redis does not answer."),
        gettext(
            "Requests go on from the database and storage, and are slower. See that Redis runs, that REDIS_URL names"
            " it, and that it may write."
        ),
    )


def _memory(params: Params) -> tuple[str, str]:
    title = gettext("Redis uses %(share)d %% of its memory.") % params
    if params["hours"] is not None:
        title = gettext("Redis uses %(share)d %% of its memory, and is full in about %(hours)d h.") % params
    return title, gettext(
        "When it is full it evicts what was asked for least: hits become misses that storage restores. Give it more"
        " memory (maxmemory), shorten TTLs, or lower REFRAIN_L2_AUDIO_LIMIT."
    )


def _redis_slow(params: Params) -> tuple[str, str]:
    return (
        gettext("A round trip to Redis takes %(milliseconds)s ms.") % params,
        gettext(
            "Every hit waits for one. See whether its machine is busy or swaps, whether the network between is slow,"
            " and what SLOWLOG shows."
        ),
    )


def _queue(params: Params) -> tuple[str, str]:
    return (
        gettext("The queue of %(engine)s grows: %(waiting)d sentences wait, the oldest for %(minutes)d min.") % params,
        gettext("See that its workers live. If they do, start more of them, or limit the tenant that sends the most."),
    )


def _near_misses(params: Params) -> tuple[str, str]:
    said = {**params, "tenant": params["tenant"].name, "parameter": parameter_name(params["parameter"])}
    title = gettext("%(near)d misses of %(tenant)s in seven days, %(share)d %% of them, were near misses.") % said
    advice = gettext("What differed is in the examples: ask the tenant to send equal requests for equal speech.")
    if params["parameter"]:
        advice = (
            gettext("Most of them differed in: %(parameter)s. Ask the tenant to send it alike, or not at all.") % said
        )
    return title, advice


def _endpoints(params: Params) -> tuple[str, str]:
    return (
        gettext("Webhook endpoints: %(given_up)d were given up, %(failing)d have failed for an hour.") % params,
        gettext("Tell their tenants. Once a receiver answers again, enable its endpoint and send again what failed."),
    )


WORDS: Mapping[Condition, Callable[[Params], tuple[str, str]]] = {
    Condition.HIT_RATE: _hit_rate,
    Condition.REDIS_AWAY: _redis_away,
    Condition.MEMORY: _memory,
    Condition.REDIS_SLOW: _redis_slow,
    Condition.QUEUE: _queue,
    Condition.NEAR_MISSES: _near_misses,
    Condition.ENDPOINTS: _endpoints,
}
LISTS = {
    Condition.HIT_RATE: "synth_missday",
    Condition.REDIS_AWAY: "synth_sample",
    Condition.MEMORY: "synth_sample",
    Condition.REDIS_SLOW: "synth_sample",
    Condition.QUEUE: "synth_enginecardrow",
    Condition.NEAR_MISSES: "synth_missexample",
    Condition.ENDPOINTS: "synth_webhookendpoint",
}


def _address(alarm: Alarm) -> str:
    query = {}
    if alarm.condition is Condition.NEAR_MISSES:
        query = {"tenant__id__exact": str(alarm.params["tenant"].id), "reason": "near_miss"}
    if alarm.condition is Condition.ENDPOINTS:
        query = {"health": "by_itself" if alarm.params["given_up"] else "failing"}
    address = reverse(f"admin:{LISTS[alarm.condition]}_changelist")
    return f"{address}?{urlencode(query)}" if query else address
