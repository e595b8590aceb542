"""Texts sealed for columns: the sealed form of objects, in base64."""

from base64 import b64decode, b64encode
from uuid import UUID

from synth.sealing.format import Label, NotOpened, label_key, open_sealed, seal
from tenants.encryption import SealingKey

TEXT = "text/plain"


def seal_text(text: str, key: SealingKey, *, tenant: UUID, name: str) -> str:
    """`name` is the row's key: the text opens nowhere else."""
    return b64encode(seal(text.encode(), label_key(key, Label(tenant, name, TEXT)))).decode()


def open_text(sealed: str, key: SealingKey, *, tenant: UUID, name: str) -> str:
    """Raises NotOpened."""
    try:
        data = b64decode(sealed, validate=True)
    except ValueError as error:
        raise NotOpened from error
    return open_sealed(data, label_key(key, Label(tenant, name, TEXT))).decode()
