"""Requests that a client may send again and that must be carried out once: by their `Idempotency-Key`."""

from django.db import models
from django.utils import timezone

from tenants.ids import new_id
from tenants.models import Tenant


class IdempotentRequest(models.Model):
    """The first request with a key. `fingerprint` is that of its method, path and body.

    Without `status` it is being worked on, by whoever holds the lease under `attempt`; then `status`, `headers` and
    `body` are its answer. Kept for a day.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    attempt = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="one_request_per_idempotency_key")]
        indexes = [models.Index(fields=["created_at"], name="idempotent_oldest")]

    def __str__(self) -> str:
        return f"{self.key} {self.status or 'open'}"
