"""The one exception handler: any error -> `application/problem+json` (RFC 9457), in the caller's language."""

import logging
from math import ceil
from typing import Any

import orjson
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.response import Response

from synth.api.idempotent import REPLAYED
from synth.errors import Replayed, ServiceUnavailable
from tenants.authentication import CHALLENGE
from tenants.context import deed, request_id
from tenants.errors import FieldProblem, InvalidRequest, NotFound, Problem, UnsupportedMediaType
from tenants.errors import untranslated as _
from tenants.limits import RateLimited, header_fields
from tenants.quotas import QuotaExceeded

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


class BodyTooLarge(Problem):
    status = 413
    code = "body_too_large"
    title = _("Body too large")
    detail = _("The body is larger than a request may be.")


class BadBody(Problem):
    status = 400
    code = "bad_body"
    title = _("Unreadable body")
    detail = _("The body cannot be read as what its Content-Type says.")


class MethodNotAllowed(Problem):
    status = 405
    code = "method_not_allowed"
    title = _("Method not allowed")
    detail = _("This address does not take this method.")


class NotAcceptable(Problem):
    status = 406
    code = "not_acceptable"
    title = _("Not acceptable")
    detail = _("This address cannot answer in a form that Accept allows.")


class PreconditionFailed(Problem):
    status = 412
    code = "precondition_failed"
    title = _("Precondition failed")
    detail = _("What is here is not what If-Match names.")


class RangeNotSatisfiable(Problem):
    status = 416
    code = "range_not_satisfiable"
    title = _("Range not satisfiable")
    detail = _("The range begins beyond the end; Content-Range tells the size.")


class BadRequest(Problem):
    status = 400
    code = "bad_request"
    title = _("Bad request")
    detail = _("The request cannot be understood.")


KNOWN: tuple[tuple[type[BaseException], type[Problem]], ...] = (
    (Http404, NotFound),
    (RequestDataTooBig, BodyTooLarge),
    (SuspiciousOperation, BadBody),
    (exceptions.NotFound, NotFound),
    (exceptions.ParseError, BadBody),
    (exceptions.MethodNotAllowed, MethodNotAllowed),
    (exceptions.NotAcceptable, NotAcceptable),
    (exceptions.UnsupportedMediaType, UnsupportedMediaType),
)
# What it says when it cannot be reached, has no connection left, or is locked for too long.
DATABASE_AWAY = (OperationalError, InterfaceError)
DATABASE_RETRY_AFTER = 5
BY_STATUS: dict[int, type[Problem]] = {
    kind.status: kind for kind in (NotFound, MethodNotAllowed, PreconditionFailed, RangeNotSatisfiable)
}


def as_problem(error: BaseException) -> Problem | None:
    """The problem that an exception means; None for a defect of ours."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, DATABASE_AWAY):
        logger.error("the database does not answer", exc_info=error)
        return ServiceUnavailable(retry_after=DATABASE_RETRY_AFTER)
    if isinstance(error, exceptions.ValidationError):
        return _invalid(error.get_full_details())
    return next((problem() for kind, problem in KNOWN if isinstance(error, kind)), None)


def _invalid(details: Any) -> Problem:
    """REST framework's own refusals of fields, in our shape."""
    fields = [
        FieldProblem(name, str(item["code"]), str(item["message"])) for name, items in details.items() for item in items
    ]
    return InvalidRequest(fields=tuple(fields))


def body_of(problem: Problem) -> dict[str, Any]:
    """The members of the JSON document. Texts are translated first and filled afterwards."""
    deed().outcome = problem.code
    body: dict[str, Any] = {
        "type": f"urn:refrain:problem:{problem.code}",
        "title": gettext(problem.title),
        "status": problem.status,
        "code": problem.code,
        "detail": _filled(problem.detail, problem.params),
        "request_id": request_id(),
    }
    if problem.fields:
        body["fields"] = [_field(field) for field in problem.fields]
    if problem.retry_after is not None:
        body["retry_after"] = problem.retry_after
    return body | problem.members


def respond(problem: Problem) -> HttpResponse:
    response = HttpResponse(orjson.dumps(body_of(problem)), content_type=MEDIA_TYPE, status=problem.status)
    for name, value in _headers(problem).items():
        response[name] = value
    return response


def in_our_words(response: HttpResponse) -> HttpResponse:
    """A refusal that has no words of ours, from Django or a plain view, with its headers and a body like all others."""
    kind = BY_STATUS.get(response.status_code, BadRequest if response.status_code < 500 else Problem)
    problem = kind()
    problem.status = response.status_code
    told = respond(problem)
    for name, value in response.items():
        if name.lower() not in {"content-type", "content-length"}:
            told.setdefault(name, value)
    return told


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's EXCEPTION_HANDLER. What is not known passes on, to become a 500 below."""
    problem = as_problem(error)
    if problem is None:
        return None
    response = Response(body_of(problem), status=problem.status, headers=_headers(problem), content_type=MEDIA_TYPE)
    if isinstance(error, exceptions.MethodNotAllowed):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    return response


def for_views(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """For plain views, by the middleware: problems of the API are told as such, wherever they are raised."""
    problem = as_problem(error)
    if problem is not None and (isinstance(error, Problem) or is_api(request)):
        return respond(problem)
    if is_api(request) and not isinstance(error, PermissionDenied):
        logger.exception("%s %s failed", request.method, request.path)
        return respond(Problem())
    return None


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """Django's handler404."""
    return respond(NotFound())


def is_problem(response: HttpResponse) -> bool:
    return response.get("Content-Type") == MEDIA_TYPE


def is_api(request: HttpRequest) -> bool:
    return request.path.startswith(("/v1/", "/files/"))


def _field(field: FieldProblem) -> dict[str, Any]:
    body = {"field": field.field, "code": field.code, "message": _filled(field.message, field.params)}
    return body if field.allowed is None else body | {"allowed": field.allowed}


def _filled(template: str, params: Any) -> str:
    text = gettext(template)
    return text % params if params else text


def _headers(problem: Problem) -> dict[str, str]:
    headers = {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = CHALLENGE
    if problem.retry_after is not None:
        headers["Retry-After"] = str(max(1, ceil(problem.retry_after)))  # whole seconds; never too early
    if isinstance(problem, RateLimited | QuotaExceeded):
        headers |= header_fields(problem.allowances)
    if isinstance(problem, Replayed):
        headers[REPLAYED] = "true"
    return headers
