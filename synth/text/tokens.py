"""What a text is made of: patterns shared by the sentence splitter and the cutter of long sentences."""

from __future__ import annotations

MARK = (
    r"(?:<[^<>|\n]{0,60}\|[^<>\n]{1,60}>"  # <行|XING2>, <|zh|>
    r"|\[[^\[\]\n]{1,60}\]\([^()\n]{1,200}\)"  # [重庆](chóng qìng)
    r"|(?<![A-Za-z0-9/<])/(?=\S)[^/\n]{1,80}(?<=\S)/(?![A-Za-z0-9/]))"  # /ˈwʊstə/
)
"""An inline pronunciation mark or control token: never cut, however small the limit."""

URL = (
    r"(?:(?<![A-Za-z0-9])(?:(?:https?|ftps?|sftp|wss?|file|s3)://|www\.|mailto:)[!-~]*[A-Za-z0-9/_=&#%+~$-]"
    r"|(?<![A-Za-z0-9.@-])[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}+(?::\d{1,5})?+[/?#][!-~]*[A-Za-z0-9/_=&#%+~$-])"
)
"""An address with its path and query; the punctuation after it is the sentence's."""

EMOTICON = r"(?<![\w])[:;=]-?[()]"

ENDERS = r".．。｡!?！？…‼⁇⁈⁉؟۔।॥"
PERIODS = ".．"

QUOTES = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "｢": "｣", "〝": "〞"}
BRACKETS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "（": "）",
    "［": "］",
    "｛": "｝",
    "【": "】",
    "〔": "〕",
    "《": "》",
    "〈": "〉",
    "〖": "〗",
}
STRAIGHT = "\"'"

OPENING = "".join([*QUOTES, *BRACKETS])
CLOSING = "".join([*QUOTES.values(), *BRACKETS.values()])

EMOJI = r"\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u200d\ufe0e\ufe0f♪♫~～〜"
"""What people put after a sentence's end without meaning a new one."""

CJK = r"\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}ーｰ"


def literal_class(characters: str) -> str:
    """`characters` for use inside a character class."""
    return "".join(f"\\{character}" if character in r"[]()\^-{}" else character for character in characters)
