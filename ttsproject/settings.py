"""All settings, from environment variables (`.env.example` lists them), in the order that a reader asks."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from ttsproject import engine_settings, env, page_rules, redis_settings

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("REFRAIN_VAR_DIR", str(BASE_DIR / "var")))

# --- Who may reach it -------------------------------------------------------------------------------------------
DEBUG = env.flag("REFRAIN_DEBUG", default=False)
SECRET_KEY = env.text("REFRAIN_SECRET_KEY")
if not SECRET_KEY:
    raise ImproperlyConfigured("REFRAIN_SECRET_KEY is missing. Set it to 50 random characters; `make run` makes one.")
# Former ones. What they sealed is still read, and what they signed still counts.
SECRET_KEY_FALLBACKS = env.words("REFRAIN_SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("REFRAIN_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("REFRAIN_CSRF_TRUSTED_ORIGINS")
PUBLIC_URL = env.text("REFRAIN_PUBLIC_URL", "http://127.0.0.1:8000").rstrip("/")
HTTPS = PUBLIC_URL.startswith("https://")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # a browser takes such cookies from this very host alone
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SESSION_COOKIE_AGE = 12 * 3600
SECURE_HSTS_SECONDS = 365 * 86400 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_SSL_REDIRECT = HTTPS
# Pages alone lead over to https: a client of the API that speaks plain http should fail, not go on with its key.
SECURE_REDIRECT_EXEMPT = ["^v1/", "^files/", "^healthz$", "^readyz$", "^metrics$"]
# To be on the browsers' own list is a step that an operator takes for a whole domain, and hardly takes back.
SILENCED_SYSTEM_CHECKS = ["security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- Logging in to the admin --------------------------------------------------------------------------------------
REFRAIN_ADMIN_TWO_FACTOR = env.choice(
    "REFRAIN_ADMIN_TWO_FACTOR", ("required", "optional"), "required" if HTTPS and not DEBUG else "optional"
)
OTP_TOTP_ISSUER = "Refrain"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
# Both together: nobody locks an operator out from another address.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "ttsproject.login.locked"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_SENSITIVE_PARAMETERS = ["username", "password", "otp_token", "csrfmiddlewaretoken"]

# --- Where rows live ----------------------------------------------------------------------------------------------
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'refrain.sqlite3'}")
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file needs no pool, and opening it costs as much as several queries.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    # WAL and IMMEDIATE together: anything less answers "database is locked" under several writers.
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    # A pooled connection may be one that a restarted server has forgotten.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        "pool": {
            "min_size": 0,
            "max_size": env.integer("DATABASE_POOL_SIZE", 16, minimum=2),
            "timeout": 10,
        },
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis: the cache, and what rings the workers --------------------------------------------------------------
REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")
REDIS = redis_settings.address("REDIS_URL", REDIS_URL)
CACHES = {
    "default": redis_settings.cache(
        REDIS,
        redis_settings.Pool(
            size=env.integer("REDIS_POOL_SIZE", 32, minimum=2),
            connect_timeout=env.number("REDIS_CONNECT_TIMEOUT", 0.5, minimum=0.01),
            timeout=env.number("REDIS_TIMEOUT", 0.5, minimum=0.01),
        ),
    )
}
_broker = redis_settings.broker("CELERY_BROKER_URL", env.text("CELERY_BROKER_URL"), REDIS)
# All three: Celery itself reads the variable CELERY_BROKER_URL, as it stands, before the setting of that name.
CELERY_BROKER_URL = CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = _broker.url
CELERY_BROKER_TRANSPORT_OPTIONS = _broker.options
CELERY_BROKER_USE_SSL = _broker.use_ssl
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_POOL_LIMIT = 16
CELERY_DB_REUSE_MAX = sys.maxsize  # ttsproject/celery.py closes what is old
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_DEFAULT_QUEUE = "io"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A child that loads a model is silent for longer than Celery's own 4 s.
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 300
_max_memory = env.integer("REFRAIN_WORKER_MAX_MEMORY", 0, minimum=0)
# KiB. After each task a child beyond it is replaced.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = _max_memory // 1024 or None
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "synth.sweep", "schedule": 3.0, "options": {"queue": "io", "expires": 6}},
    "sweep_storage": {"task": "synth.sweep_storage", "schedule": 60.0, "options": {"queue": "io", "expires": 60}},
    "audit_objects": {"task": "synth.audit_objects", "schedule": 600.0, "options": {"queue": "io", "expires": 600}},
    "count_days": {"task": "synth.count_days", "schedule": 600.0, "options": {"queue": "io", "expires": 600}},
    "sample": {"task": "synth.take_sample", "schedule": 60.0, "options": {"queue": "io", "expires": 60}},
    "misses": {"task": "synth.judge_misses", "schedule": 3.0, "options": {"queue": "io", "expires": 6}},
    "quotas": {"task": "synth.warn_of_quotas", "schedule": 10.0, "options": {"queue": "io", "expires": 10}},
    "watch_audit": {"task": "synth.watch_audit", "schedule": 60.0, "options": {"queue": "io", "expires": 60}},
    "verify_audit": {"task": "synth.verify_audit", "schedule": 60.0, "options": {"queue": "io", "expires": 60}},
    "drop_audit": {"task": "synth.drop_old_audit", "schedule": 3600.0, "options": {"queue": "io", "expires": 3600}},
    "usage": {"task": "synth.drain_usage", "schedule": 1.0, "options": {"queue": "io", "expires": 2}},
}

# --- Refrain itself (synth/conf.py reads this) --------------------------------------------------------------------
REFRAIN = {
    "PUBLIC_URL": PUBLIC_URL,
    "URL_TTL": env.integer("REFRAIN_URL_TTL", 3600, minimum=60, maximum=7 * 86400),
    "JOB_AUDIO_TTL": env.integer("REFRAIN_JOB_AUDIO_TTL", 7 * 86400, minimum=0),
    "EXPIRED_KEPT": env.integer("REFRAIN_EXPIRED_KEPT", 30 * 86400, minimum=0),
    "CACHE_TTL": env.integer("REFRAIN_CACHE_TTL", 86400, minimum=1),
    "OLD_MODEL_TTL": env.integer("REFRAIN_OLD_MODEL_TTL", 7 * 86400, minimum=60),
    "L1_BYTES": env.integer("REFRAIN_L1_BYTES", 64 * 2**20),
    "L2_EXPIRY": env.integer("REFRAIN_L2_EXPIRY", 7 * 86400, minimum=60),
    "L2_AUDIO_LIMIT": env.integer("REFRAIN_L2_AUDIO_LIMIT", 256 * 2**10),
    "HANDOVER_LIMIT": env.integer("REFRAIN_HANDOVER_LIMIT", 2**20),
    "LOUDNESS": -16.0,
    "PAUSE_MS": 250,
    "LEASE": env.number("REFRAIN_LEASE", 15.0, minimum=1),
    "HEARTBEAT": env.number("REFRAIN_HEARTBEAT", 5.0, minimum=0.2),
    "DEADLINE": env.number("REFRAIN_DEADLINE", 60.0, minimum=1),
    "DEADLINE_FACTOR": env.number("REFRAIN_DEADLINE_FACTOR", 5.0, minimum=0),
    "QUALITY_TRIES": env.integer("REFRAIN_QUALITY_TRIES", 2, minimum=0, maximum=10),
    "WORKER_MAX_MEMORY": _max_memory,
    "ENGINE_UNLOAD_AFTER": env.number("REFRAIN_ENGINE_UNLOAD_AFTER", 0.0, minimum=0),
    "MAX_WAITERS": env.integer("REFRAIN_MAX_WAITERS", 48, minimum=0),
    "RATE_LIMIT": env.number("REFRAIN_RATE_LIMIT", 0.0, maximum=100_000),
    "RATE_BURST": env.integer("REFRAIN_RATE_BURST", 0, maximum=1_000_000),
    "MAX_OPEN_JOBS": env.integer("REFRAIN_MAX_OPEN_JOBS", 1000),
    "MAX_RUNNING": env.integer("REFRAIN_MAX_RUNNING", 0),
    "CHARACTERS_PER_DAY": env.integer("REFRAIN_CHARACTERS_PER_DAY", 0, maximum=10**15),
    "CHARACTERS_PER_MONTH": env.integer("REFRAIN_CHARACTERS_PER_MONTH", 0, maximum=10**15),
    "SYNTHESIS_PER_DAY": env.integer("REFRAIN_SYNTHESIS_PER_DAY", 0, maximum=10**15),
    "SYNTHESIS_PER_MONTH": env.integer("REFRAIN_SYNTHESIS_PER_MONTH", 0, maximum=10**15),
    "MAX_VOICES": env.integer("REFRAIN_MAX_VOICES", 0, maximum=10**15),
    "MAX_STORAGE": env.integer("REFRAIN_MAX_STORAGE", 0, maximum=10**15),
    "MAX_OWN_RULES": env.integer("REFRAIN_MAX_OWN_RULES", 20, maximum=200),
    "MAX_OWN_TTL": env.integer("REFRAIN_MAX_OWN_TTL", 30 * 86400, maximum=10 * 365 * 86400),
    "API_PROCESSES": env.integer("REFRAIN_API_PROCESSES", 1, minimum=1),
    "USAGE_STREAM_LENGTH": env.integer("REFRAIN_USAGE_STREAM_LENGTH", 360_000, minimum=1000),
    "AUDIT_STREAM_LENGTH": env.integer("REFRAIN_AUDIT_STREAM_LENGTH", 100_000, minimum=1000),
    "AUDIT_ANCHOR_SECONDS": env.number("REFRAIN_AUDIT_ANCHOR_SECONDS", 10.0, maximum=3600),
    # What counts as unusual; 0: such a thing is not looked for.
    "AUDIT_NEW_ADDRESSES": env.integer("REFRAIN_AUDIT_NEW_ADDRESSES", 10),
    "AUDIT_BURST_FACTOR": env.number("REFRAIN_AUDIT_BURST_FACTOR", 10.0),
    "AUDIT_BURST_LEAST": env.integer("REFRAIN_AUDIT_BURST_LEAST", 600, minimum=1),
    "AUDIT_MISSING_IDS": env.integer("REFRAIN_AUDIT_MISSING_IDS", 30),
    "AUDIT_REFUSALS": env.integer("REFRAIN_AUDIT_REFUSALS", 100),
    "INLINE_LIMIT": env.integer("REFRAIN_INLINE_LIMIT", 8 * 2**20),
    "BATCH_UPLOAD_LIMIT": env.integer("REFRAIN_BATCH_UPLOAD_LIMIT", 64 * 2**20, minimum=2**16, maximum=2**30),
    "VOICE_UPLOAD_LIMIT": env.integer("REFRAIN_VOICE_UPLOAD_LIMIT", 20 * 2**20, minimum=2**16, maximum=2**28),
    # Seconds of pause before the second, third, … try: 12 tries in 3 days.
    "WEBHOOK_PAUSES": env.numbers("REFRAIN_WEBHOOK_PAUSES", "5,30,120,600,1800,3600,10800,21600,43200,86400,86400"),
    "WEBHOOK_TIMEOUT": env.number("REFRAIN_WEBHOOK_TIMEOUT", 15.0, minimum=0.1, maximum=60),
    "WEBHOOK_GIVE_UP_AFTER": env.integer("REFRAIN_WEBHOOK_GIVE_UP_AFTER", 10 * 86400, minimum=1),
    "WEBHOOK_HTTP": env.flag("REFRAIN_WEBHOOK_HTTP", default=False),
    "WEBHOOK_PORTS": env.integers("REFRAIN_WEBHOOK_PORTS", "443,8443", minimum=1, maximum=65535),
    "WEBHOOK_NETWORKS": env.networks("REFRAIN_WEBHOOK_NETWORKS", ""),
    "METRICS_TOKEN": env.text("REFRAIN_METRICS_TOKEN"),
    "METRICS_NETWORKS": env.networks("REFRAIN_METRICS_NETWORKS", "127.0.0.0/8,::1/128"),
    "METRICS_HOST": env.text("REFRAIN_METRICS_HOST", "127.0.0.1"),
    "METRICS_PORT": env.integer("REFRAIN_METRICS_PORT", 0, maximum=65535),
    "METRICS_TENANTS": env.integer("REFRAIN_METRICS_TENANTS", 0, maximum=100),
    "CURRENCY": env.text("REFRAIN_CURRENCY", "USD"),
    "GPU_PRICE_PER_HOUR": env.by_engine("REFRAIN_GPU_PRICE_PER_HOUR"),
    "ENGINE_WATTS": env.by_engine("REFRAIN_ENGINE_WATTS"),
    "ENGINE_THREADS": env.integer("REFRAIN_ENGINE_THREADS", 1, minimum=1),
    "ENGINE_PACKAGES": env.words("REFRAIN_ENGINE_PACKAGES", "synth.engines"),
    "ENGINE_OPTIONS": engine_settings.OPTIONS,
    "STORAGE": env.text("REFRAIN_STORAGE", "files"),
    "STORAGE_OPTIONS": {
        "files": {
            "root": env.text("REFRAIN_FILES_ROOT", str(VAR_DIR / "audio")),
            "base_url": PUBLIC_URL,
            "signing_key": env.text("REFRAIN_URL_SIGNING_KEY", SECRET_KEY),
            "previous_signing_key": env.text("REFRAIN_PREVIOUS_URL_SIGNING_KEY"),
        },
        "s3": {
            "bucket": env.text("S3_BUCKET"),
            "region": env.text("S3_REGION", "us-east-1"),
            "endpoint": env.text("S3_ENDPOINT_URL"),
            "public_endpoint": env.text("S3_PUBLIC_ENDPOINT_URL"),
            "access_key": env.text("S3_ACCESS_KEY_ID"),
            "secret_key": env.text("S3_SECRET_ACCESS_KEY"),
            "addressing_style": env.text("S3_ADDRESSING_STYLE", "auto"),
            "prefix": env.text("S3_PREFIX"),
            "connect_timeout": str(env.number("S3_CONNECT_TIMEOUT", 1.0, minimum=0.01)),
            "read_timeout": str(env.number("S3_READ_TIMEOUT", 5.0, minimum=0.01)),
        },
    },
}
# The engines that an engine worker loads; the API and the io worker load none.
REFRAIN_ENGINES = env.words("REFRAIN_ENGINES")
# Number -> secret; the highest number mints, the others still verify.
REFRAIN_KEY_PEPPERS = env.numbered_secrets("REFRAIN_KEY_PEPPERS", SECRET_KEY)
# Id -> key, the first one wraps the data keys of tenants whose speech is encrypted.
REFRAIN_ENCRYPTION_KEYS = env.encryption_keys("REFRAIN_ENCRYPTION_KEYS")

# Number -> secret; the highest number seals the audit, the others still verify what they sealed.
REFRAIN_AUDIT_KEYS = env.numbered_secrets("REFRAIN_AUDIT_KEYS", SECRET_KEY)
# Days; 0 keeps it for good.
REFRAIN_AUDIT_DAYS = env.integer("REFRAIN_AUDIT_DAYS", 400, minimum=0)
# How many proxies of ours a request comes through: so many addresses of X-Forwarded-For, from its end, are believed.
REFRAIN_PROXIES = env.integer("REFRAIN_PROXIES", 0, minimum=0, maximum=16)

# --- Parts --------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin.apps.SimpleAdminConfig",  # urls.py discovers its pages, which workers never need
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "tenants",
    "synth",
]
MIDDLEWARE = [
    "ttsproject.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "ttsproject.middleware.ApiMiddleware",  # what follows is for pages
    "csp.middleware.CSPMiddleware",
    "ttsproject.page_rules.PermissionsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "ttsproject.login.SecondFactorMiddleware",
    "axes.middleware.AxesMiddleware",
    "ttsproject.auditing.OperatorAuditMiddleware",
]
ROOT_URLCONF = "ttsproject.urls"
WSGI_APPLICATION = "ttsproject.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- What it looks like ---------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = True
# Where the admin's login page leads when nobody asked for another page.
LOGIN_REDIRECT_URL = "admin:index"
CONTENT_SECURITY_POLICY = page_rules.content_rules(page_rules.sound_origins(PUBLIC_URL, REFRAIN))
UNFOLD = {
    "SITE_TITLE": "Refrain",
    "SITE_HEADER": "Refrain",
    "SITE_SYMBOL": "graphic_eq",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("synth/favicon.svg")},
    ],
    # Unfold would write its colours into each page, where no page may have styles: they are in this file.
    "COLORS": lambda _request: {},
    "STYLES": [lambda _request: static("synth/theme.css")],
    "SCRIPTS": [lambda _request: static("synth/page_rules.js")],
    "LOGIN": {"form": "ttsproject.login.LoginForm"},
    "ACCOUNT": {"navigation": [{"title": _("Second factor"), "link": reverse_lazy("second-factor")}]},
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"navigation": "ttsproject.navigation.sidebar"},
    "DASHBOARD_CALLBACK": "ttsproject.navigation.first_page",
}

# --- API ------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["tenants.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["tenants.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "ttsproject.document.Described",
    "EXCEPTION_HANDLER": "ttsproject.problems.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # `format` in a query is a field like others
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Refrain",
    "DESCRIPTION": _("Text to speech that never says the same sentence twice."),
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",  # the first that can describe webhooks
    "WEBHOOKS": "synth.api.webhook_payloads.WEBHOOKS",
    "SERVE_INCLUDE_SCHEMA": False,
    # Of a request and of an item of a batch; answers have another `cache`.
    "ENUM_NAME_OVERRIDES": {
        "CacheModeEnum": ["use", "refresh", "bypass"],
        "KindEnum": ["segment", "rendition"],
        "KeyKindEnum": ["live", "test"],
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
}

# --- Whom it mails: operators, of what needs them; nobody unless they are named ------------------------------------
ADMINS = [(address, address) for address in env.words("REFRAIN_OPERATOR_EMAILS")]
SERVER_EMAIL = env.text("EMAIL_FROM", "refrain@localhost")
EMAIL_SUBJECT_PREFIX = "[Refrain] "
EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
EMAIL_PORT = env.integer("EMAIL_PORT", 25, minimum=1, maximum=65535)
EMAIL_HOST_USER = env.text("EMAIL_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_TLS", default=False)
EMAIL_TIMEOUT = 15

# --- What it says -----------------------------------------------------------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.text("REFRAIN_LOG_LEVEL", "INFO")},
    "loggers": {
        "axes": {"level": "WARNING"},
        "botocore": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        # Two lines for every bell and every sweep would hide what matters.
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
