"""AAC and ALAC in MPEG 4, by ffmpeg or by PyAV where an operator has installed one of them. Called by decoding.py.

Neither belongs to Refrain: their licences and patents are for the operator to judge.
"""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
from typing import IO, TYPE_CHECKING

from synth.audio.references import ReferenceRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A header of Sun audio as ffmpeg writes it to a pipe: magic, offset, size, encoding, rate, channels.
AU_MAGIC, AU_HEADER, AU_FLOAT = b".snd", 24, 6
MOST_CHANNELS = 8


def is_readable() -> bool:
    return shutil.which("ffmpeg") is not None or importlib.util.find_spec("av") is not None


def decode(data: bytes, *, seconds: float) -> tuple[NDArray[np.float32], int]:
    """At most that many seconds: float32 samples [N, channels], and their rate."""
    if shutil.which("ffmpeg"):
        return _by_ffmpeg(data, seconds)
    return _by_av(data, seconds)


def _by_ffmpeg(data: bytes, seconds: float) -> tuple[NDArray[np.float32], int]:
    """The file is a nameless one: its index may be at the end, which a pipe cannot go back from."""
    with _nameless() as file:
        file.write(data)
        file.flush()
        source = ["-protocol_whitelist", "file", "-f", "mov", "-enable_drefs", "0", "-i", f"/dev/fd/{file.fileno()}"]
        chosen = ["-map", "0:a:0", "-vn", "-sn", "-dn", "-t", f"{seconds:.3f}", "-c:a", "pcm_f32be", "-f", "au"]
        command = ["ffmpeg", "-v", "quiet", "-nostdin", "-threads", "1", *source, *chosen, "pipe:1"]
        ran = subprocess.run(  # noqa: S603 - a fixed command; nothing of the upload is in it
            command, pass_fds=[file.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False
        )
    if ran.returncode or ran.stdout[:4] != AU_MAGIC or len(ran.stdout) < AU_HEADER:
        raise ReferenceRefused("undecodable")
    return _from_au(ran.stdout)


def _nameless() -> IO[bytes]:
    """In memory where the system has such files: the folder for temporary ones may be read-only, or a disk."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("upload"), "w+b")
    return tempfile.TemporaryFile()


def _from_au(file: bytes) -> tuple[NDArray[np.float32], int]:
    import numpy as np

    offset, _, encoding, rate, channels = (int.from_bytes(file[at : at + 4], "big") for at in range(4, AU_HEADER, 4))
    if encoding != AU_FLOAT or not 0 < channels <= MOST_CHANNELS:
        raise ReferenceRefused("undecodable")
    whole = (len(file) - offset) // (4 * channels) * channels
    values = np.frombuffer(file, dtype=">f4", count=whole, offset=offset)
    return values.reshape(-1, channels).astype(np.float32), rate


def _by_av(data: bytes, seconds: float) -> tuple[NDArray[np.float32], int]:
    import av
    import numpy as np

    try:
        with av.open(io.BytesIO(data), format="mov", options={"enable_drefs": "0"}) as file:
            stream = file.streams.audio[0]
            rate, blocks, have = stream.rate, [], 0
            to_float = av.AudioResampler(format="fltp")
            for frame in file.decode(stream):
                for converted in to_float.resample(frame):
                    blocks.append(converted.to_ndarray().T)
                    have += len(blocks[-1])
                if have >= seconds * rate:
                    break
            samples = np.concatenate(blocks)[: round(seconds * rate)]
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise ReferenceRefused("undecodable") from error
    return samples.astype(np.float32), rate
