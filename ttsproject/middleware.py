"""What every request passes: an id for it, and problems of plain views as problem+json."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware

from tenants.context import current_request_id, new_request_id
from ttsproject import problems

Handler = Callable[[HttpRequest], HttpResponse]


class RequestMiddleware:
    """Gives each request an id, told in `X-Request-Id`, and sees to it that the API refuses in one form."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        try:
            response = self._get_response(request)
            if response.status_code >= 400 and problems.is_api(request) and not problems.is_problem(response):
                response = problems.in_our_words(response)
            response["X-Request-Id"] = request_id
            return response
        finally:
            current_request_id.reset(token)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return problems.for_views(request, error)


class LanguageMiddleware(LocaleMiddleware):
    """Django's, but for audio: what has an ETag is the same in every language, and caches must not keep it by one."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code < 400 and response.has_header("ETag"):
            return response
        return super().process_response(request, response)
