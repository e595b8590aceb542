"""Speech errors. A failure of work is either worth a retry or permanent; the rest are problems of a request."""

from tenants.errors import InvalidRequest, Problem
from tenants.errors import untranslated as _


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


class NotReady(Problem):
    status = 409
    code = "not_ready"
    title = _("Not ready")
    detail = _("This speech is still being made. Try again in a moment.")


class ConfirmationRequired(Problem):
    """More than a few entries would be changed: the caller must have seen how many."""

    status = 409
    code = "confirmation_required"
    title = _("Confirmation required")
    detail = _("This is about %(matched)s entries. Send expected_count with that number to carry it out.")


class TooManyActions(Problem):
    status = 409
    code = "too_many_actions"
    title = _("Too many actions")
    detail = _("%(most)s actions are under way already. Wait for one to end, or cancel one.")


class TooManyBatches(Problem):
    status = 429
    code = "too_many_batches"
    title = _("Too many batches")
    detail = _("%(most)s batches are under way already. Wait for one to end, or cancel one.")


class TooManyVoices(Problem):
    status = 409
    code = "too_many_voices"
    title = _("Too many voices")
    detail = _("There are %(most)s voices already. Delete one first.")


class TooManyEndpoints(Problem):
    status = 409
    code = "too_many_endpoints"
    title = _("Too many endpoints")
    detail = _("There are %(most)s webhook endpoints already. Delete one first.")


class TooManyPolicies(Problem):
    status = 409
    code = "too_many_policies"
    title = _("Too many TTL rules")
    detail = _("You may make %(most)s TTL rules yourself, and have them already. Delete one, or ask the operator.")


class OperatorsPolicy(Problem):
    status = 403
    code = "operators_policy"
    title = _("The operator's rule")
    detail = _("This rule was made by the operator. It is not yours to change.")


class TooManySecrets(Problem):
    status = 409
    code = "too_many_secrets"
    title = _("Too many secrets")
    detail = _("%(most)s secrets sign already. Wait for one to end, or rotate with an overlap of 0.")


class TooManyTests(Problem):
    status = 429
    code = "too_many_tests"
    title = _("Too many tests")
    detail = _("%(most)s tests of this endpoint were asked for within a minute.")


class EndpointDisabled(Problem):
    status = 409
    code = "endpoint_disabled"
    title = _("Endpoint disabled")
    detail = _("This endpoint is disabled, and nothing is sent there. Enable it first.")


class DeliveryRunning(Problem):
    status = 409
    code = "delivery_running"
    title = _("Delivery under way")
    detail = _("This delivery is being sent just now.")


class BadIdempotencyKey(Problem):
    status = 400
    code = "bad_idempotency_key"
    title = _("Bad idempotency key")
    detail = _(
        "Idempotency-Key must be 1 to %(maximum)s visible ASCII characters, bare or as a quoted string; in a bare one "
        "there is no quotation mark and no backslash."
    )


class IdempotencyKeyReused(Problem):
    status = 422
    code = "idempotency_key_reused"
    title = _("Idempotency key used before")
    detail = _("This Idempotency-Key stands for another request of the last 24 hours. Take a new one for each request.")


class IdempotencyInProgress(Problem):
    status = 409
    code = "idempotency_in_progress"
    title = _("Still being carried out")
    detail = _("The first request with this Idempotency-Key is still being carried out. Send it again in a moment.")


class Replayed(Problem):
    """A failure that was told before, told again to who sends the same request with the same `Idempotency-Key`."""


class TooManyJobs(Problem):
    """As much of a tenant waits already as may. Nothing was written of the request that would be one more."""

    status = 429
    code = "too_many_jobs"
    title = _("Too many jobs")
    detail = _(
        "%(most)s requests of this account wait for their speech already, and no more may wait at a time. Wait as long "
        "as Retry-After says."
    )


class ConsentRequired(InvalidRequest):
    """No voice is cloned unless somebody is named who allowed it."""

    code = "consent_required"
    title = _("Consent required")
    detail = _(
        "Send consent with who allows this use of the voice, when they said so, and in which words: without it no "
        "voice is cloned."
    )


class ServiceUnavailable(Problem):
    status = 503
    code = "unavailable"
    title = _("Temporarily unavailable")
    detail = _("Try again in a moment.")


class SpeechCanceled(Problem):
    """The job was canceled while its own request waited for it."""

    status = 409
    code = "canceled"
    title = _("Canceled")
    detail = _("This speech was canceled while the request waited for it.")


class SpeechFailed(Problem):
    """The work behind a request failed. 422 when it would fail again, else 503."""

    status = 503
    code = "synthesis_failed"
    title = _("Speech failed")
    detail = _("The speech could not be made (%(code)s). Try again in a moment.")

    @classmethod
    def of(cls, code: str, *, repeats: bool, job_id: str | None = None) -> "SpeechFailed":
        detail = _("The speech could not be made (%(code)s), and would not be if tried again.") if repeats else None
        members = {"job_id": job_id} if job_id else None
        problem = cls(detail, code=code, params={"code": code}, retry_after=None if repeats else 5, members=members)
        problem.status = 422 if repeats else 503
        return problem
