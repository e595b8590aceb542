"""The app that speaks: specs, cache, queue, engines and the API over them."""

from django.apps import AppConfig
from django.db.models import signals
from django.utils.translation import gettext_lazy as _


class SynthConfig(AppConfig):
    name = "synth"
    verbose_name = _("Speech")
    changed_by = "operator"

    def ready(self) -> None:
        """Register the checks of settings, and tell Redis of every new snapshot version."""
        from synth import checks, wiring  # noqa: F401
        from synth.service import operators
        from tenants.versions import set_publisher

        set_publisher(lambda versions: wiring.rendition_cache().publish_versions(versions))
        signals.post_save.connect(operators.note_log_entry, sender="admin.LogEntry", dispatch_uid="audit")
