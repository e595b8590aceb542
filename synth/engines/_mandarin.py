"""Mandarin text to phonemes in the form Kokoro v1.0 was trained with: misaki's IPA over jieba's words."""

import re

from synth.engines._phonemes import punctuation
from synth.engines._scripts import Unspeakable

_DATE = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_MONEY = re.compile(r"([¥$€£])\s?(\d[\d,]*(?:\.\d+)?)(\s?[万亿千百]+)?(?:\s?元)?")
_CURRENCIES = {"¥": "元", "$": "美元", "€": "欧元", "£": "英镑"}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PER_UNIT = re.compile(r"(?<=[元米里克斤升次个人度台分秒时天周月年])/(?=[一-鿿])")
_WORDS = str.maketrans(
    {"+": "加", "＋": "加", "=": "等于", "×": "乘以", "÷": "除以", "<": "小于", ">": "大于", "&": "和", "@": "艾特"}
    | {"#": "井号", "²": "平方", "³": "立方", "−": "-"}
)
_MARKS = r"""[，。！？；、…—“”‘’"'「」『』《》〈〉【】〔〕（）()\[\]{}·・!?;\s|*_^`]+"""
_PAUSE = re.compile(rf"({_MARKS}|(?<!\d)[:：./,~～]|[-:：./,~～](?!\d))")


class Mandarin:
    """Callable: a run of Mandarin with digits and punctuation in, phonemes out. Loads its dictionary when made."""

    def __init__(self) -> None:
        import jieba
        from misaki.zh import ZHG2P
        from misaki.zh_normalization.text_normalization import TextNormalizer

        self._normalize = TextNormalizer().normalize_sentence
        self._word_phonemes = ZHG2P.word2ipa
        # jieba's own loading leaves a cache file in the shared temporary folder, and trusts the one it finds there.
        self._words = jieba.Tokenizer()
        self._words.FREQ, self._words.total = self._words.gen_pfdict(self._words.get_dict_file())
        self._words.initialized = True

    def __call__(self, text: str) -> str:
        """Raises Unspeakable when a character has no reading."""
        pieces = _PAUSE.split(spoken(text))
        return "".join(
            punctuation(piece) if index % 2 else f" {self._piece(piece)} " for index, piece in enumerate(pieces)
        )

    def _piece(self, piece: str) -> str:
        words = self._words.lcut(self._normalize(piece)) if piece else []
        return " ".join(self._word(word) for word in words)

    def _word(self, word: str) -> str:
        if not any(char.isalnum() for char in word):
            return punctuation(word)
        try:
            phonemes: str = self._word_phonemes(word).replace("\u032f", "")
        except Exception as error:
            # misaki fails in several ways on a character without pinyin
            raise Unspeakable("a character has no Mandarin reading") from error
        return phonemes


def spoken(text: str) -> str:
    """Signs and amounts as Mandarin says them, where the number reader would leave them out."""
    text = _DATE.sub(r"\1年\2月\3日", text)
    text = _MONEY.sub(lambda match: f"{match[2]}{(match[3] or '').strip()}{_CURRENCIES[match[1]]}", text)
    text = _THOUSANDS.sub("", text)
    text = re.sub(r"(\d+(?:\.\d+)?)\s?‰", r"千分之\1", text)
    text = re.sub(r"(?<=\d)\s+(?=[%℃°])", "", text)
    text = re.sub(r"°(?!C)", "度", text)
    return _PER_UNIT.sub("每", text).translate(_WORDS)
