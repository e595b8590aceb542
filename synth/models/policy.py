"""A TTL rule: how long the cache keeps what it matches. Change one through `service.policies` only."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from synth.conf import conf
from tenants.ids import new_id, public_id
from tenants.models import Tenant

LONGEST = 10 * 365 * 86_400
LONGEST_WINDOW = 30 * 86_400
LARGEST_FACTOR = 1_000
# Every request looks at all rules of its tenant and at those for all tenants.
MOST_RULES = 200
HOT_FIELDS = ("hot_hits", "hot_window", "hot_factor", "hot_ceiling")

NO_HOT_RULE = Q(**{f"{name}__isnull": True for name in HOT_FIELDS})
# Each named as there: a comparison with NULL is neither true nor false, and a check lets that pass.
HOT_RULE = Q(**{f"{name}__isnull": False for name in HOT_FIELDS}) & Q(
    hot_hits__gte=1,
    hot_window__gte=1,
    hot_window__lte=LONGEST_WINDOW,
    hot_factor__gt=1,
    hot_factor__lte=LARGEST_FACTOR,
    hot_ceiling__gte=1,
    hot_ceiling__lte=LONGEST,
)


class Policy(models.Model):
    """Without a tenant it is for all of them; an empty matcher matches anything; the lower priority comes first."""

    class ModelChange(models.TextChoices):
        SERVE_OLD = "serve_old", _("serve the old sound while it is made anew")
        MAKE_NEW = "make_new", _("make it anew at once")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey(
        Tenant,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("tenant"),
        help_text=_("Empty: for all tenants."),
    )
    note = models.CharField(_("note"), max_length=200, blank=True, default="", help_text=_("What the rule is for."))
    priority = models.PositiveSmallIntegerField(
        _("priority"),
        default=100,
        help_text=_(
            "The lower comes first, and the first rule that matches applies. Of equal ones the tenant's own comes"
            " before one for all tenants, then the older."
        ),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    by_tenant = models.BooleanField(_("made by the tenant"), default=False, db_default=False, editable=False)
    category = models.CharField(_("category"), max_length=64, blank=True, default="", help_text=_("Empty: any."))
    engine = models.CharField(_("engine"), max_length=64, blank=True, default="", help_text=_("Empty: any."))
    voice = models.CharField(
        _("voice"), max_length=128, blank=True, default="", help_text=_("Its name without the engine. Empty: any.")
    )
    min_characters = models.PositiveIntegerField(
        _("characters, at least"), null=True, blank=True, help_text=_("Of the text as it is spoken. Empty: any.")
    )
    max_characters = models.PositiveIntegerField(
        _("characters, at most"), null=True, blank=True, help_text=_("Of the text as it is spoken. Empty: any.")
    )
    max_age = models.PositiveBigIntegerField(
        _("TTL in seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST)],
        help_text=_("A day is 86400. Empty: the default of this installation."),
    )
    pinned = models.BooleanField(_("pinned"), default=False, help_text=_("Never expires."))
    never_cache = models.BooleanField(
        _("never cache"), default=False, help_text=_("Neither stored nor taken from what is stored.")
    )
    stale = models.PositiveBigIntegerField(
        _("serve the old one for, in seconds"),
        default=0,
        validators=[MaxValueValidator(LONGEST)],
        help_text=_("For so long after the TTL the old sound is served at once, while it is made anew."),
    )
    model_change = models.CharField(
        _("when the model changes"), max_length=16, choices=ModelChange.choices, default=ModelChange.SERVE_OLD
    )
    hot_hits = models.PositiveIntegerField(
        _("hot from so many hits"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    hot_window = models.PositiveIntegerField(
        _("within so many seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_WINDOW)],
    )
    hot_factor = models.FloatField(
        _("then the TTL times"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1.0), MaxValueValidator(LARGEST_FACTOR)],
    )
    hot_ceiling = models.PositiveBigIntegerField(
        _("up to so many seconds"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST)],
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("TTL rule")
        verbose_name_plural = _("TTL rules")
        ordering = ["priority", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(min_characters=None)
                | Q(max_characters=None)
                | Q(min_characters__lte=models.F("max_characters")),
                name="policy_lengths_in_order",
            ),
            models.CheckConstraint(
                condition=Q(max_age=None) | Q(max_age__gte=1, max_age__lte=LONGEST), name="policy_max_age_in_range"
            ),
            models.CheckConstraint(condition=Q(stale__lte=LONGEST), name="policy_stale_in_range"),
            models.CheckConstraint(condition=NO_HOT_RULE | HOT_RULE, name="policy_hot_rule_whole"),
            models.CheckConstraint(condition=~Q(pinned=True, never_cache=True), name="policy_pinned_or_never"),
            models.CheckConstraint(
                condition=Q(pinned=False, never_cache=False) | (Q(max_age=None, stale=0) & NO_HOT_RULE),
                name="policy_no_ttl_beside_pinned_or_never",
            ),
        ]

    def __str__(self) -> str:
        return self.note or self.public_id

    @property
    def public_id(self) -> str:
        return public_id("pol", self.id)

    def clean(self) -> None:
        """What the database would refuse without a sentence, and hot rules that could do nothing."""
        problems = {**self._matcher_problems(), **self._kind_problems(), **self._hot_problems()}
        if problems:
            raise ValidationError(problems)
        self._refuse_too_many()

    def _matcher_problems(self) -> dict[str, ValidationError]:
        least, most = self.min_characters, self.max_characters
        if least is None or most is None or least <= most:
            return {}
        return {"max_characters": ValidationError(_("This is less than the least number."), code="out_of_order")}

    def _kind_problems(self) -> dict[str, ValidationError]:
        """Pinned and never cache leave nothing that a TTL could say."""
        if self.pinned and self.never_cache:
            return {"never_cache": ValidationError(_("A rule is pinned or never caches, not both."), code="both")}
        if not (self.pinned or self.never_cache):
            return {}
        message = _("This has no meaning where the rule is pinned or never caches: leave it empty.")
        given = [name for name in ("max_age", "stale", *HOT_FIELDS) if getattr(self, name)]
        return {name: ValidationError(message, code="no_meaning") for name in given}

    def _hot_problems(self) -> dict[str, ValidationError]:
        given = [name for name in HOT_FIELDS if getattr(self, name) is not None]
        if given and len(given) < len(HOT_FIELDS):
            message = _("A hot rule needs all four: hits, seconds, factor and ceiling.")
            return {name: ValidationError(message, code="incomplete") for name in HOT_FIELDS if name not in given}
        if self.hot_factor is not None and self.hot_factor <= 1:
            return {"hot_factor": ValidationError(_("A factor above 1 lengthens; this one does not."), code="too_low")}
        base = self.max_age or conf().cache_ttl
        if self.hot_ceiling is not None and self.hot_ceiling <= base and not self.pinned:
            message = _("This must be more than the TTL, which is %(base)d s.")
            return {"hot_ceiling": ValidationError(message, code="too_low", params={"base": base})}
        return {}

    def _refuse_too_many(self) -> None:
        if Policy.objects.filter(tenant=self.tenant).exclude(id=self.id).count() >= MOST_RULES:
            message = _("There are %(most)d rules already: every request looks at all of them.")
            raise ValidationError(message, code="too_many", params={"most": MOST_RULES})
