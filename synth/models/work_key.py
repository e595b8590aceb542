"""A tenant's own key while work of its needs it: wrapped by the platform's, for one piece of work and some minutes."""

from django.db import models

from tenants.models import Tenant


class WorkKey(models.Model):
    """`work` is the id of a rendering or a voice. Deleted with its end; from `expires_at` on it opens nothing."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+")
    work = models.UUIDField(unique=True)
    key_id = models.CharField(max_length=36)
    wrapped = models.CharField(max_length=200)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["tenant", "key_id", "expires_at"], name="work_key_of_tenant")]

    def __str__(self) -> str:
        return f"key for {self.work}"
