"""The address that a request comes from, through as many proxies of ours as the settings say."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from django.conf import settings


def client_address(environ: Mapping[str, Any]) -> str:
    """Empty where none is known. What a client itself writes into X-Forwarded-For is never believed."""
    direct: str = environ.get("REMOTE_ADDR", "")
    proxies: int = settings.REFRAIN_PROXIES
    if not proxies:
        return direct
    passed = [part.strip() for part in environ.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    return _address(passed[-proxies]) if len(passed) >= proxies else direct


def _address(text: str) -> str:
    """Without brackets and a port; empty for what is no address."""
    for form in (text, text.rpartition(":")[0].strip("[]"), text.strip("[]")):
        try:
            return str(ip_address(form))
        except ValueError:
            continue
    return ""
