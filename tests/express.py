"""Django's test client, with the way of a hit before Django as `ttsproject/wsgi.py` has it."""

from collections.abc import Iterable
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import Client
from django.test.client import ClientHandler

from synth.api.express import Environ, Express, StartResponse


class ExpressClient(Client):
    """`by_express` on an answer says that Django was not asked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.handler = _Handler(enforce_csrf_checks=False)


class _Handler(ClientHandler):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._express = Express(self._by_django)
        self._django: HttpResponseBase | None = None

    def __call__(self, environ: Environ) -> Any:
        started: list[Any] = []
        self._django = None
        body = self._express(environ, lambda *told: started.extend(told))
        if self._django is not None:
            self._django.by_express = False  # type: ignore[attr-defined]
            return self._django
        status, headers = started
        response = HttpResponse(b"".join(body), headers=dict(headers), status=int(status.split()[0]))
        response.by_express = True  # type: ignore[attr-defined]
        response.wsgi_request = WSGIRequest(environ)  # type: ignore[attr-defined]
        return response

    def _by_django(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        self._django = response = super().__call__(environ)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return ()
