"""What each engine is told, from environment variables: engine -> its own settings, as strings."""

from ttsproject import env

OPTIONS = {
    "cosyvoice": {
        "code": env.text("REFRAIN_COSYVOICE_CODE"),
        "matcha": env.text("REFRAIN_COSYVOICE_MATCHA"),
        "model_dir": env.text("REFRAIN_COSYVOICE_MODEL_DIR"),
        "variant": env.text("REFRAIN_COSYVOICE_VARIANT", "auto"),
        "device": env.text("REFRAIN_COSYVOICE_DEVICE", "auto"),
        "fp16": env.text("REFRAIN_COSYVOICE_FP16", "no"),
        "stream": env.text("REFRAIN_COSYVOICE_STREAM", "no"),
    },
    "kokoro": {
        "directory": env.text("REFRAIN_KOKORO_DIR"),
        "voices": env.text("REFRAIN_KOKORO_VOICES"),
    },
    "indextts": {
        "code": env.text("REFRAIN_INDEXTTS_CODE"),
        "model_dir": env.text("REFRAIN_INDEXTTS_MODEL_DIR"),
        "aux_dir": env.text("REFRAIN_INDEXTTS_AUX_DIR"),
        "device": env.text("REFRAIN_INDEXTTS_DEVICE"),
        "fp16": "yes" if env.flag("REFRAIN_INDEXTTS_FP16", default=False) else "",
        "cuda_kernel": "yes" if env.flag("REFRAIN_INDEXTTS_CUDA_KERNEL", default=False) else "",
        "emotion_text": "yes" if env.flag("REFRAIN_INDEXTTS_EMOTION_TEXT", default=False) else "",
        "digests": env.text("REFRAIN_INDEXTTS_DIGESTS"),
        "voices_kept": str(env.integer("REFRAIN_INDEXTTS_VOICES_KEPT", 16, minimum=1, maximum=1000)),
    },
    "openai_http": {
        "base_url": env.text("REFRAIN_OPENAI_BASE_URL"),
        "api_key": env.text("REFRAIN_OPENAI_API_KEY"),
        "model": env.text("REFRAIN_OPENAI_MODEL", "tts-1"),
        "version": env.text("REFRAIN_OPENAI_VERSION"),
        "voices": env.text("REFRAIN_OPENAI_VOICES"),
        "default_voices": env.text("REFRAIN_OPENAI_DEFAULT_VOICES"),
        "languages": env.text("REFRAIN_OPENAI_LANGUAGES", "zh,en"),
        "speed": env.text("REFRAIN_OPENAI_SPEED", "0.5-2.0"),
        "sample_rate": str(env.integer("REFRAIN_OPENAI_SAMPLE_RATE", 24000, minimum=8000, maximum=48000)),
        "response_format": env.text("REFRAIN_OPENAI_RESPONSE_FORMAT", "wav"),
        "instructions": "yes" if env.flag("REFRAIN_OPENAI_INSTRUCTIONS", default=False) else "",
        "extra_body": env.text("REFRAIN_OPENAI_EXTRA_BODY"),
        "priority": str(env.integer("REFRAIN_OPENAI_PRIORITY", 40, maximum=1000)),
        "max_units": str(env.integer("REFRAIN_OPENAI_MAX_UNITS", 400, minimum=100, maximum=4000)),
        "max_seconds": str(env.number("REFRAIN_OPENAI_MAX_SECONDS", 300.0, minimum=1)),
        "max_bytes": str(env.integer("REFRAIN_OPENAI_MAX_BYTES", 32 * 2**20, minimum=2**16)),
        "connect_timeout": str(env.number("REFRAIN_OPENAI_CONNECT_TIMEOUT", 3.0, minimum=0.01)),
        "read_timeout": str(env.number("REFRAIN_OPENAI_READ_TIMEOUT", 20.0, minimum=0.01)),
        "timeout": str(env.number("REFRAIN_OPENAI_TIMEOUT", 50.0, minimum=0.01)),
        "tries": str(env.integer("REFRAIN_OPENAI_TRIES", 3, minimum=1, maximum=10)),
        "start_wait": str(env.number("REFRAIN_OPENAI_START_WAIT", 60.0, maximum=240)),
    },
}
