"""Every change of a tenant's lexicon; it acts on the next request everywhere."""

from uuid import UUID

from django.db import transaction

from synth.errors import InvalidSpeech
from synth.lexicon import Word
from synth.models import LexiconWord
from tenants.errors import NotFound
from tenants.errors import untranslated as _
from tenants.models import Tenant
from tenants.types import TenantRef
from tenants.versions import raise_versions

# Every request of the tenant is looked through for each of them.
MOST_WORDS = 1_000


@transaction.atomic
def save_word(tenant: TenantRef, word: Word) -> tuple[LexiconWord, bool]:
    """Add a word, or change how the one of this text and language is said; and whether it is new.

    Raises InvalidSpeech when the lexicon is full.
    """
    Tenant.objects.select_for_update().get(id=tenant.id)  # of two who add the last one, one comes second
    said = {"kind": word.kind, "value": word.value}
    row, is_new = LexiconWord.objects.update_or_create(
        tenant_id=tenant.id, text=word.text, language=word.language, defaults=said
    )
    if is_new and LexiconWord.objects.filter(tenant_id=tenant.id).count() > MOST_WORDS:
        message = _("A lexicon holds at most %(maximum)s words.")
        raise InvalidSpeech(message, code="lexicon_full", params={"maximum": MOST_WORDS})
    raise_versions([tenant.id])
    return row, is_new


@transaction.atomic
def delete_word(tenant: TenantRef, word_id: UUID) -> None:
    """Raises NotFound."""
    deleted, _rows = LexiconWord.objects.filter(tenant_id=tenant.id, id=word_id).delete()
    if not deleted:
        raise NotFound
    raise_versions([tenant.id])
