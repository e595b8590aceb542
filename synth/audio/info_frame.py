"""The frame ahead of an MP3 that tells players its length, and what to skip at both ends. Used by the mp3 format.

An empty frame with the Xing table and LAME's extension of it, laid out as in "Mp3 Info Tag rev 1" (G. Bouvigne,
gabriel.mp3-tech.org/mp3infotag.html). lameenc leaves it out, for it never sees the whole stream.
"""

import struct

HEADER, XING_TABLE, EXTENSION = 4, 120, 36
SIDE_INFORMATION = {True: 17, False: 9}  # of a mono frame, by whether it is MPEG 1
LONGEST_TAG = HEADER + SIDE_INFORMATION[True] + XING_TABLE + EXTENSION
ENCODER_DELAY = 576  # LAME's, at every rate and bitrate; players add the decoder's 529

_MPEG_1 = 0x08  # in the second byte of a frame
_PADDED = 0x02  # in its third
_FRAMES_BYTES_TABLE_QUALITY = 0b1111
# Where each hundredth of the duration lies, in 256ths of the file: a straight line at a constant bitrate.
_TABLE = bytes(hundredth * 256 // 100 for hundredth in range(100))
_CONSTANT_BITRATE = 1
_SOURCE_RATES = {44100: 1, 48000: 2}  # lower ones: 0


def with_info_frame(stream: bytes, *, samples: int, sample_rate: int, bitrate: int, quality: int) -> bytes:
    """`stream`: the mono frames that LAME made of `samples` at a constant bitrate in kbit/s. Quality is LAME's -q."""
    from fastcrc import crc16

    mpeg_1 = bool(stream[1] & _MPEG_1)
    frame_samples = 1152 if mpeg_1 else 576
    frame_bits = frame_samples * bitrate * 1000  # over the sample rate
    size = frame_bits // (8 * sample_rate)
    # Some frames are a byte longer than `size`, so that their mean is exact.
    frames = round(len(stream) * 8 * sample_rate / frame_bits)
    total = size + len(stream)
    tag = bytes([stream[0], stream[1], stream[2] & ~_PADDED, stream[3]]) + bytes(SIDE_INFORMATION[mpeg_1])
    tag += struct.pack(">4sIII", b"Info", _FRAMES_BYTES_TABLE_QUALITY, frames, total) + _TABLE
    tag += struct.pack(">I", 100 - 10 * 4 - quality)  # 4: LAME's default for -V, which a constant bitrate ignores
    # Zero is "unknown" for lowpass, peak, the gains and the flags.
    tag += struct.pack(">9sBBIHHBB", b"LAME3.100", _CONSTANT_BITRATE, 0, 0, 0, 0, 0, min(bitrate, 255))
    tag += (ENCODER_DELAY << 12 | frames * frame_samples - ENCODER_DELAY - samples).to_bytes(3, "big")
    tag += struct.pack(">BBHIH", _SOURCE_RATES.get(sample_rate, 0) << 6, 0, 0, total, crc16.arc(stream))
    tag += struct.pack(">H", crc16.arc(tag))
    return tag.ljust(size, b"\0") + stream
