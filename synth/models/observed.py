"""What the dashboard reads beside usage: days of latency, failures and phrases, and samples of how the whole is.

Small on purpose: a page over them must not depend on how many requests or entries there are.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id
from tenants.models import Tenant


class LatencyDay(models.Model):
    """How many answers of one day (UTC) took at most `bound` seconds, and more than the bound before it.

    `synth.latency` adds what the API processes have measured. An answer above the last bound has that of `SLOWEST`.
    """

    class What(models.TextChoices):
        HIT = "hit", _("hit")
        MISS = "miss", _("miss")
        REDIS = "redis", _("round trip to Redis")

    SLOWEST = 86_400.0

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    day = models.DateField(_("day"))
    what = models.CharField(_("what"), max_length=8, choices=What.choices)
    bound = models.FloatField(_("seconds, at most"))
    answers = models.PositiveBigIntegerField(_("answers"), default=0)

    class Meta:
        verbose_name = _("answers of a day by their time")
        verbose_name_plural = _("latency by day")
        ordering = ["-day", "what", "bound"]
        constraints = [models.UniqueConstraint(fields=["day", "what", "bound"], name="one_latency_day")]

    def __str__(self) -> str:
        return f"{self.what} {self.day}"


class FailureDay(models.Model):
    """The jobs of one tenant that failed on one day (UTC), by the code that their callers were told."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    day = models.DateField(_("day"))
    engine = models.CharField(_("engine"), max_length=64)
    code = models.CharField(_("code"), max_length=64)
    failures = models.PositiveBigIntegerField(_("failures"), default=0)

    class Meta:
        verbose_name = _("failures of a day")
        verbose_name_plural = _("failures by day")
        ordering = ["-day", "-failures", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "day", "engine", "code"], name="one_failure_day")]
        indexes = [models.Index(fields=["-day", "-failures", "-id"], name="failure_day_newest")]

    def __str__(self) -> str:
        return f"{self.code} {self.day}"


class PhraseDay(models.Model):
    """How often one rendition was answered on one day (UTC): the most frequent ones, by `synth.phrases`.

    `key` is the rendition's: what was said stands in its entry alone.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    day = models.DateField(_("day"))
    key = models.CharField(_("key"), max_length=64)
    answers = models.PositiveBigIntegerField(_("answers"), default=0)

    class Meta:
        verbose_name = _("phrase of a day")
        verbose_name_plural = _("phrases by day")
        ordering = ["-day", "-answers", "-id"]
        constraints = [models.UniqueConstraint(fields=["tenant", "day", "key"], name="one_phrase_day")]
        indexes = [models.Index(fields=["-day", "-answers", "-id"], name="phrase_day_most")]

    def __str__(self) -> str:
        return f"{self.key[:12]} {self.day}"


class Sample(models.Model):
    """How the whole was at one moment: one a minute, by `dashboard.take_sample`, which says what `values` are."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(_("time"))
    values = models.JSONField(_("values"), default=dict)

    class Meta:
        verbose_name = _("sample")
        verbose_name_plural = _("samples of how the whole is")
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["-at", "-id"], name="sample_newest")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
