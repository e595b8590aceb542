"""Speech errors. A failure of work is either worth a retry or permanent; the rest are problems of a request."""

from tenants.errors import InvalidRequest, Problem


class WorkError(Exception):
    """A failed piece of work. `code` is stable and reaches the tenant; `detail` must not hold the tenant's text."""

    code = "synthesis_failed"

    def __init__(self, detail: str = "", *, code: str | None = None) -> None:
        self.detail = detail
        self.code = code or self.code
        super().__init__(f"{self.code}: {detail}")


class Retryable(WorkError):  # noqa: N818
    """May pass by itself: out of memory, storage away."""

    code = "temporarily_unavailable"


class Permanent(WorkError):  # noqa: N818
    """Would fail again: bad text, a voice that is gone."""


class EngineUnavailable(WorkError):  # noqa: N818
    """The engine's packages or weights are not installed here."""

    code = "engine_unavailable"


class ObjectMissing(WorkError):  # noqa: N818
    """The object store has no such object."""

    code = "audio_missing"


class StorageUnavailable(Retryable):
    """The object store refused, timed out or cut the transfer."""

    code = "storage_unavailable"


class InvalidSpeech(InvalidRequest):
    """A speech request that cannot be spoken."""


class ServiceUnavailable(Problem):
    status = 503
    code = "unavailable"
    title = "Temporarily unavailable"
    detail = "Try again in a moment."
