"""The two columns of a rate limit, which tenants and keys both have."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from tenants.limits import MAX_BURST, MAX_RATE


class RateColumns(models.Model):
    """Null in both means: nothing of its own. A rate of 0 means no limit, whatever the platform's default is."""

    rate_limit = models.FloatField(
        _("requests per second"), null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(MAX_RATE)]
    )
    rate_burst = models.PositiveIntegerField(
        _("requests at once"), null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(MAX_BURST)]
    )

    class Meta:
        abstract = True
