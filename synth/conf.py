"""Refrain's settings as one typed value. Parts get what they need as arguments; models, queue and doors read this."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from tenants.limits import limit_of
from tenants.quotas import Quotas, quotas_of
from tenants.types import Limit


@dataclass(frozen=True, slots=True)
class Conf:
    """Durations are seconds, sizes bytes, loudness LUFS. `ttsproject/settings.py` says where each comes from."""

    public_url: str
    url_ttl: int
    job_audio_ttl: int
    expired_kept: int
    cache_ttl: int
    old_model_ttl: int
    l1_bytes: int
    l2_expiry: int
    l2_audio_limit: int
    handover_limit: int
    loudness: float
    pause_ms: int
    lease: float
    heartbeat: float
    deadline: float
    deadline_factor: float
    quality_tries: int
    worker_max_memory: int
    engine_unload_after: float
    max_waiters: int
    webhook_pauses: tuple[float, ...]
    webhook_timeout: float
    webhook_give_up_after: int
    webhook_http: bool
    webhook_ports: tuple[int, ...]
    webhook_networks: tuple[IPv4Network | IPv6Network, ...]
    metrics_token: str
    metrics_networks: tuple[IPv4Network | IPv6Network, ...]
    metrics_host: str
    metrics_port: int
    metrics_tenants: int
    currency: str
    gpu_price_per_hour: Mapping[str, float]
    engine_watts: Mapping[str, float]
    engine_threads: int
    rate_limit: float
    rate_burst: int
    max_open_jobs: int
    max_running: int
    characters_per_day: int
    characters_per_month: int
    synthesis_per_day: int
    synthesis_per_month: int
    max_voices: int
    max_storage: int
    max_own_rules: int
    max_own_ttl: int
    api_processes: int
    usage_stream_length: int
    audit_stream_length: int
    audit_anchor_seconds: float
    audit_new_addresses: int
    audit_burst_factor: float
    audit_burst_least: int
    audit_missing_ids: int
    audit_refusals: int
    inline_limit: int
    batch_upload_limit: int
    voice_upload_limit: int
    engine_packages: tuple[str, ...]
    engine_options: Mapping[str, Mapping[str, str]]
    storage: str
    storage_options: Mapping[str, Mapping[str, str]]

    @property
    def default_limit(self) -> Limit | None:
        """What a tenant may ask that has no limit of its own."""
        return limit_of(self.rate_limit, self.rate_burst)

    @property
    def default_quotas(self) -> Quotas:
        """Those of a tenant that has none of its own."""
        return quotas_of(self)


@cache
def conf() -> Conf:
    values: dict[str, Any] = {name.lower(): value for name, value in settings.REFRAIN.items()}
    values["engine_packages"] = tuple(values["engine_packages"])
    for name in ("metrics_networks", "webhook_networks", "webhook_pauses", "webhook_ports"):
        values[name] = tuple(values[name])
    return Conf(**values)


def sealing_keys() -> tuple[str, ...]:
    """What secrets at rest are sealed with: the first one seals, the others still open."""
    return (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "REFRAIN":
        conf.cache_clear()


setting_changed.connect(_forget)
