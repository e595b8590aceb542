"""What an API key may be allowed to do; views name one of these for each method, keys hold some of them."""

from typing import Final

SPEECH_WRITE: Final = "speech:write"
SPEECH_READ: Final = "speech:read"
VOICES_READ: Final = "voices:read"
VOICES_WRITE: Final = "voices:write"
CACHE_READ: Final = "cache:read"
CACHE_WRITE: Final = "cache:write"
WEBHOOKS_READ: Final = "webhooks:read"
WEBHOOKS_WRITE: Final = "webhooks:write"
KEYS_READ: Final = "keys:read"
KEYS_WRITE: Final = "keys:write"
ENCRYPTION_READ: Final = "encryption:read"
ENCRYPTION_WRITE: Final = "encryption:write"
AUDIT_READ: Final = "audit:read"

SCOPES: Final[tuple[str, ...]] = (
    SPEECH_WRITE,
    SPEECH_READ,
    VOICES_READ,
    VOICES_WRITE,
    CACHE_READ,
    CACHE_WRITE,
    WEBHOOKS_READ,
    WEBHOOKS_WRITE,
    KEYS_READ,
    KEYS_WRITE,
    ENCRYPTION_READ,
    ENCRYPTION_WRITE,
    AUDIT_READ,
)
# What a key is offered first: one that makes keys is for a tenant's own administration alone.
USUAL: Final[tuple[str, ...]] = tuple(scope for scope in SCOPES if scope != KEYS_WRITE)
ALL: Final[frozenset[str]] = frozenset(SCOPES)
