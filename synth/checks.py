"""Settings that cannot work together, as Django system checks: `manage.py migrate` and `make run` stop on them."""

from typing import Any

from django.core.checks import CheckMessage, Error, register

from synth import wiring
from synth.conf import conf


@register
def check_times(**_: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if conf().heartbeat * 2 > conf().lease:
        message = "REFRAIN_HEARTBEAT is %s; it takes at most half of REFRAIN_LEASE (%s), or leases end under workers."
        found.append(Error(message % (conf().heartbeat, conf().lease), id="synth.E001"))
    if conf().l2_expiry < conf().cache_ttl:
        message = "REFRAIN_L2_EXPIRY is %s; it takes at least REFRAIN_CACHE_TTL (%s), or Redis drops what still counts."
        found.append(Error(message % (conf().l2_expiry, conf().cache_ttl), id="synth.E002"))
    remote = conf().engine_options.get("openai_http", {})
    asked = float(remote["timeout"]) if remote.get("base_url") else 0.0
    if asked >= conf().deadline:
        message = "REFRAIN_OPENAI_TIMEOUT is %s; it takes less than REFRAIN_DEADLINE (%s), or workers end themselves."
        found.append(Error(message % (asked, conf().deadline), id="synth.E004"))
    return found


@register
def check_storage(**_: Any) -> list[CheckMessage]:
    """Opening reads the options and makes no request."""
    try:
        wiring.object_store()
    except (LookupError, ValueError) as error:
        return [Error(f"REFRAIN_STORAGE is {conf().storage!r}: {error}.", id="synth.E003")]
    return []
