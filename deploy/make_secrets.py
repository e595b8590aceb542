"""`python3 deploy/make_secrets.py`: the secrets of docker-compose.yml, files in deploy/secrets. None is ever changed.

The folder is closed to everybody else; the files in it are readable, since containers read them as users of their own.
"""

import json
import secrets
import sys
from base64 import b64encode
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "secrets"
BUCKET = "refrain"
ACCESS_KEY = "refrain"


def wanted(kept: dict[str, str]) -> dict[str, str]:
    """Every file and what is to be in it; `kept` are those that are there. Some hold the secret of another one."""
    made = {
        name: kept.get(name) or secrets.token_urlsafe(48)
        for name in ("secret_key", "metrics_token", "postgres_password", "s3_secret_access_key")
    }
    for name in ("key_peppers", "audit_keys"):
        made[name] = kept.get(name) or f"1:{secrets.token_urlsafe(48)}"
    made["encryption_keys"] = kept.get("encryption_keys") or f"first:{b64encode(secrets.token_bytes(32)).decode()}"
    made["s3_access_key_id"] = ACCESS_KEY
    made["database_url"] = f"postgresql://refrain:{made['postgres_password']}@postgres:5432/refrain"
    for server in ("cache", "broker"):
        login = kept.get(f"{server}_login") or f"requirepass {secrets.token_urlsafe(48)}"
        made[f"{server}_login"] = login
        made[f"{server}_url"] = f"redis://:{login.split()[1]}@{server}:6379/0"
    made["s3_identities"] = json.dumps(_identities(made["s3_secret_access_key"]), indent=2)
    return made


def make(folder: Path) -> list[str]:
    """Writes those that are missing; their names."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    kept = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
    missing = {name: text for name, text in wanted(kept).items() if name not in kept}
    for name, text in missing.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o444)
    return sorted(missing)


def _identities(secret_key: str) -> dict[str, object]:
    """SeaweedFS's own form: one identity, which may do anything within its one bucket, and nobody else anything."""
    credentials = [{"accessKey": ACCESS_KEY, "secretKey": secret_key}]
    return {"identities": [{"name": "refrain", "credentials": credentials, "actions": [f"Admin:{BUCKET}"]}]}


if __name__ == "__main__":
    print("Made:", ", ".join(make(FOLDER)) or "nothing, all are there", file=sys.stderr)
