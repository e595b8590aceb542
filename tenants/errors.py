"""The base of every error that a caller may see; `ttsproject.problems` turns it into problem+json."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def untranslated(template: str) -> str:
    """Marks a text that callers may see, so that translations of it are looked for. Import it as `_`."""
    return template


_ = untranslated


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one input field, and what is allowed there.

    `message` is an untranslated template with `%(name)s` places, filled from `params`.
    """

    field: str
    code: str
    message: str
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    allowed: Any = None

    @property
    def text(self) -> str:
        """The message filled, untranslated."""
        return self.message % self.params if self.params else self.message


class Problem(Exception):  # noqa: N818 - RFC 9457 calls it a problem
    """An error with a stable `code` and an HTTP status.

    `detail` is an untranslated English template with `%(name)s` places, filled from `params`: the handler
    translates first and fills afterwards. `members` are further members of the JSON document.
    """

    status = 500
    code = "internal_error"
    title = _("Internal error")
    detail = _("Something went wrong on our side.")

    def __init__(
        self,
        detail: str | None = None,
        *,
        code: str | None = None,
        params: Mapping[str, Any] | None = None,
        fields: tuple[FieldProblem, ...] = (),
        retry_after: float | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        self.detail = detail or self.detail
        self.code = code or self.code
        self.params = dict(params or {})
        self.fields = fields
        self.retry_after = retry_after
        self.members = dict(members or {})
        super().__init__(self.detail % self.params if self.params else self.detail)


class Unauthenticated(Problem):
    """No key, or one that is unknown, wrong, expired or revoked: all answer alike."""

    status = 401
    code = "unauthenticated"
    title = _("Not authenticated")
    detail = _("Send a valid API key: Authorization: Bearer <key>.")


class Forbidden(Problem):
    status = 403
    code = "forbidden"
    title = _("Not allowed")
    detail = _("This key lacks the scope %(scope)s.")


class NotFound(Problem):
    status = 404
    code = "not_found"
    title = _("Not found")
    detail = _("There is nothing here under this id.")


class UnsupportedMediaType(Problem):
    status = 415
    code = "unsupported_media_type"
    title = _("Unsupported media type")
    detail = _("Send the body as application/json.")


class InvalidRequest(Problem):
    """Input that cannot be used; `fields` names each place."""

    status = 422
    code = "invalid_request"
    title = _("Invalid request")
    detail = _("The request cannot be used: see fields.")
