"""The words of a tenant's lexicon. Change them through `service.lexicon` only."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tenants.ids import new_id, public_id
from tenants.models import Tenant


class LexiconWord(models.Model):
    """How a tenant wants a word to be said, in one language or, without one, in all."""

    class Kind(models.TextChoices):
        PINYIN = "pinyin", _("pinyin")
        IPA = "ipa", _("IPA")
        ALIAS = "alias", _("alias")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="+", verbose_name=_("tenant"))
    text = models.CharField(_("text"), max_length=200)
    language = models.CharField(_("language"), max_length=35, blank=True, default="", help_text=_("Empty: any."))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    value = models.CharField(_("said as"), max_length=200)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("word of a lexicon")
        verbose_name_plural = _("lexicons")
        ordering = ["text", "language"]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "text", "language"], name="one_word_per_text_and_language")
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def public_id(self) -> str:
        return public_id("lex", self.id)
