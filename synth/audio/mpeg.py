"""Frames of MPEG layer 3: whether some bytes are one, and how many a file has. Used by sniffing.py and decoding.py."""

from __future__ import annotations

MPEG_1 = 3
LAYER_3 = 1
MONO = 3
# kbit/s by the index in the header, for MPEG 1 and for the lower rates of 2 and 2.5; 0 and 15 are no fixed rate.
BITRATES_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
BITRATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)
RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
# A frame of this bitrate holds the count at every rate.
ROOMY = 9
NO_CHECKSUM = 0x01
MOST_STRAYS = 4096


def frame_length(header: bytes) -> int:
    """Of a frame of layer 3 in bytes; 0 for any other four bytes."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return 0
    version, layer = header[1] >> 3 & 3, header[1] >> 1 & 3
    rate_index = header[2] >> 2 & 3
    if layer != LAYER_3 or version not in RATES or rate_index == 3:
        return 0
    first = version == MPEG_1
    kbits = (BITRATES_1 if first else BITRATES_2)[header[2] >> 4]
    padding = header[2] >> 1 & 1
    return (144_000 if first else 72_000) * kbits // RATES[version][rate_index] + padding if kbits else 0


def starts_frame(data: bytes, at: int = 0) -> bool:
    """Whether two frames follow each other there: one header alone is only a dozen fixed bits."""
    length = frame_length(data[at : at + 4])
    return bool(length) and bool(frame_length(data[at + length : at + length + 4]))


def tells_length(data: bytes) -> bool:
    """Whether an encoder wrote how many frames there are."""
    return any(tag in data[:256] for tag in (b"Xing", b"Info"))


def with_length(data: bytes, *, seconds: float) -> bytes:
    """The file with the count of its frames in front, as an encoder would have written it.

    Without, decoders guess the length from the first bitrates, and libsndfile stops there, in the middle of a sound of
    variable bitrate. Frames are counted up to a moment beyond `seconds` of them.
    """
    rate = RATES[data[1] >> 3 & 3][data[2] >> 2 & 3]
    frame = 1152 if data[1] >> 3 & 3 == MPEG_1 else 576
    count = _count(data, most=int(seconds * rate / frame) + 2)
    header = bytes([data[0], data[1] | NO_CHECKSUM, ROOMY << 4 | data[2] & 0x0C, data[3]])
    tag = header + bytes(_side_information(header)) + b"Xing" + b"\0\0\0\1" + count.to_bytes(4, "big")
    return tag.ljust(frame_length(header), b"\0") + data


def _side_information(header: bytes) -> int:
    mono = header[3] >> 6 == MONO
    if header[1] >> 3 & 3 == MPEG_1:
        return 17 if mono else 32
    return 9 if mono else 17


def _count(data: bytes, *, most: int) -> int:
    """Passes over what is no frame, as decoders do: tags at the end, or a few lost bytes."""
    count = at = strays = 0
    while at >= 0 and count < most and strays < MOST_STRAYS:
        length = frame_length(data[at : at + 4])
        if length:
            count, at = count + 1, at + length
        else:
            strays += 1
            at = data.find(b"\xff", at + 1)
    return count
