"""What every request passes: an id for it, and problems of plain views as problem+json."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from tenants.context import current_request_id, new_request_id
from ttsproject import problems

Handler = Callable[[HttpRequest], HttpResponse]


class RequestMiddleware:
    """Gives each request an id, told in `X-Request-Id`, and answers what its view raises."""

    def __init__(self, get_response: Handler) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = new_request_id()
        token = current_request_id.set(request_id)
        try:
            response = self._get_response(request)
            response["X-Request-Id"] = request_id
            return response
        finally:
            current_request_id.reset(token)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return problems.for_views(request, error)
