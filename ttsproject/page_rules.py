"""What browsers are told of Refrain's pages: where scripts, styles and sounds may come from. The settings ask here."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF, UNSAFE_EVAL
from django.http import HttpRequest, HttpResponse

# What no page of ours uses.
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"


def content_rules(sounds: list[str]) -> dict[str, Any]:
    """For django-csp. No inline script and no inline style, and so no nonce.

    `unsafe-eval` is for django-unfold alone: its Alpine reads the expressions in attributes by `new Function`.
    """
    return {
        "DIRECTIVES": {
            "default-src": [NONE],
            "script-src": [SELF, UNSAFE_EVAL],
            "style-src": [SELF],
            "img-src": [SELF, "data:"],
            "font-src": [SELF],
            "connect-src": [SELF],
            "media-src": [SELF, *sounds],
            "form-action": [SELF],
            "base-uri": [NONE],
            "frame-ancestors": [NONE],
        }
    }


def sound_origins(public_url: str, refrain: dict[str, Any]) -> list[str]:
    """Whence signed addresses of audio are: this platform, or the object store, by path or by the bucket's own host."""
    origins = [_origin(public_url)]
    if refrain["STORAGE"] != "s3":
        return origins
    s3 = refrain["STORAGE_OPTIONS"]["s3"]
    endpoint = s3["public_endpoint"] or s3["endpoint"]
    if not endpoint:
        return [*origins, "https://*.amazonaws.com"]
    parts = urlsplit(endpoint)
    return [*origins, _origin(endpoint), f"{parts.scheme}://{s3['bucket']}.{parts.netloc}"]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class PermissionsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response
