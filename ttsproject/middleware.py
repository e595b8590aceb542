"""What every request passes: an id for it, problems as problem+json, and a short way for the API."""

from collections.abc import Callable
from typing import cast

from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from tenants.context import Deed, current_deed, current_request_id, new_request_id
from ttsproject import problems
from ttsproject.auditing import note_answer

Handler = Callable[[HttpRequest], HttpResponse]


class RequestMiddleware:
    """Gives each request an id, told in `X-Request-Id`."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        doing = current_deed.set(Deed())
        try:
            response = self._get_response(request)
            response["X-Request-Id"] = request_id
            return response
        finally:
            current_deed.reset(doing)
            current_request_id.reset(token)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return problems.for_views(request, error)


class ApiMiddleware:
    """Takes requests of the API past the middleware below, which is for pages: sessions, cookies, forms, static files.

    A hit is to cost little more than its look-up. What the API refuses, it refuses in one form.
    """

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response
        self._views = _ViewsAlone()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not problems.is_api(request):
            return self._get_response(request)
        language = translation.get_language_from_request(request)
        with translation.override(language):
            response = self._views(request)
            if response.status_code >= 400 and not problems.is_problem(response):
                response = problems.in_our_words(response)
        if response.status_code >= 400 or not response.has_header("ETag"):
            patch_vary_headers(response, ("Accept-Language",))
            response.headers.setdefault("Content-Language", language)
        if not response.streaming and not response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))
        note_answer(request, response)
        return response


class _ViewsAlone(BaseHandler):
    """Django's handler with none of the settings' middleware but what tells problems."""

    _view_middleware: tuple[object, ...] = ()
    _template_response_middleware: tuple[object, ...] = ()
    _exception_middleware = (problems.for_views,)

    def __init__(self) -> None:
        self._answer = cast("Handler", convert_exception_to_response(self._checked))

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._answer(request)

    def _checked(self, request: HttpRequest) -> HttpResponse:
        request.get_host()  # raises DisallowedHost
        response: HttpResponse = self._get_response(request)  # type: ignore[attr-defined]
        return response
