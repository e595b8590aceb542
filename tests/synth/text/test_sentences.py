"""Sentences: where texts as people write them are cut. "|" marks the expected cuts, "⏎" is a line break."""

import pytest

from synth.text.split import split

CHINESE = """
今天天气很好。|我们去公园吧！|你来吗？
价格是3.14元，打折后1,000.50元。|真便宜！！！
她停了一下……然后说好。
我不知道……⏎|你呢？
好……！|走。
他走了。。。|再见
真的？！|是的。
一句；两句；三句。|第四句。
他说：“你好。”|然后走了。
他说：“我不去。我累了。”|然后走了。
“走吧！”|他说。
“走吧！”，他说。
他喊着“加油！”的口号。|大家都笑了。
“你好！”|“你好！”
「走吧！」|他說。
他说:"走吧!"|然后走了。
《你好。再见》是一本书。|我看过。
我（真的！）不知道。|你呢？
（注：见第3页。）|下一句。
第一行⏎|第二行
今天10：30开会，地点：三楼。|请准时。
这是<行|XING2。A>字。|下一句。
<|zh|>你好。|再见。
去[重庆](chóng qìng. shì)玩。|好。
把“行”读作XING2。|好的。
访问https://example.com/a.b?c=d!e。|谢谢！
访问www.example.com。|谢谢！
访问https://example.com/a?B=c。|读作/ˈhɛ.loʊ. a/吧。
写信到a.b@example.org。|谢谢！
版本v2.0.1发布了！|快来下载。
我用Python 3.11.7。|It works. |很好！
你好.|我很好.|谢谢.
1.苹果很好吃。|2.香蕉也是。
1. 打开电源。|2. 按下按钮。
A.B.C三个选项。|选一个。
去U.S.A.很远。|是的。
太好了！😀|明天见。
太好了！ 😀 |明天见。
什么？|Yes！|好。
什么?|是的!|好.
他走了。——鲁迅
速度是３．１４米．|好。
共有5位。|其中2位是Dr. Smith和Mr. Li。
""".strip()

ENGLISH = """
Hello world. |How are you? |Fine!
Dr. Smith arrived at 10:30 a.m. today. |He left at 5 p.m. |She stayed.
Mr. and Mrs. Brown met Prof. J. R. R. Tolkien. |Nice.
See No. 5 and Fig. 3 on pp. 3-5. |He said no. |Then he left.
He works at Acme Inc. in the U.S. |He likes it.
The U.S. Army and Apple Inc. Chief agreed.
She has a Ph.D. from MIT. |It took years.
Use fruit, e.g. apples, i.e. food, etc. |They help.
Apples vs. pears. |Cats approx. 5 kg.
It costs $3.14 or 1,000.50. |Then we pay.
We use v2.0.1. |It works.
Open README.md and file.txt. |Done.
Visit https://example.com/a.b?c=d. |Then go.
Is it at example.com/search?q=a.b! |Yes.
Mail john.doe@example.co.uk. |Thanks.
Node.js is fast. |So is e.g.this one.
Wait... what? |No!
I don't know... |Maybe. |Yes… |No.
...and then there was one. |The end.
What?! |No way. |Really?!?
"Stop!" he said. |"Why?"
"I can't. I won't." she said. |Then she left.
He said "no." |Then he left.
She said: 'I can't. I won't.' |Then left.
“It's over. Go.” |He nodded.
The 5" screen is good. |The 6" one is better.
It is (really?) true. |(So I heard.) |Fine.
I left (why not?). |He stayed.
1. First thing. |2. Second thing.
It was I. |He knew it. |So did John.
Is this rock 'n' roll? |It's the dogs' bowl. |They're cats'.
First line⏎|Second line.
he left. |she stayed! |who knows?
iPhone is good. |iOS too. |eBay.
OK!|Next one.
Is a!=b or c?d:e valid? |No.
Say /ˈhɛ.loʊ. ˈwɜːld/ now. |Ok.
Say [Worcester](ˈwʊ.stər. x) now. |Ok.
Paid 5/6. |And 7/8. |And/or nothing.
Great! 😀 |Next.
Great! 😀 |see you. |Bye.
I am sad :( really. |But fine :) now.
""".strip()

JAPANESE = """
今日は晴れです。|明日は雨だ！|本当？
「行こう。」と彼は言った。|雨だ！
「え？」って聞いた。|はい。
彼は「はい。そうです。」と言った。|終わり。
「そうだ。」|とても寒い。
「行くよ。」|「うん。」
え？と言った。|もう一度？
東京は3.5度です。|寒い…。|風も強い。
（笑）。|次の話。
『こころ。』を読んだ。|よかった。
コーヒーを飲む｡|おいしい。
""".strip()

KOREAN = """
안녕하세요. |저는 학생입니다. |반갑습니다!
가격은 1,000.50원입니다. |네?
그는 "안녕." 이라고 말했다. |끝.
그는 "가자!"라고 했다. |우리는 갔다.
글쎄... |모르겠어. |음.
Python은 3.11.7입니다. |좋아요!
""".strip()

CASES = [
    (language, line.replace("⏎", "\n"))
    for language, block in (("zh", CHINESE), ("en", ENGLISH), ("ja", JAPANESE), ("ko", KOREAN))
    for line in block.splitlines()
]
MARKS_WITH_BAR = ("<行|XING2。A>", "<|zh|>")


def expected_pieces(line: str) -> list[str]:
    for number, mark in enumerate(MARKS_WITH_BAR):
        line = line.replace(mark, chr(0xE000 + number))
    pieces = line.split("|")
    for number, mark in enumerate(MARKS_WITH_BAR):
        pieces = [piece.replace(chr(0xE000 + number), mark) for piece in pieces]
    return pieces


@pytest.mark.parametrize(("language", "line"), CASES, ids=[line for _, line in CASES])
def test_it_cuts_where_a_reader_would(language: str, line: str) -> None:
    pieces = expected_pieces(line)
    assert split("".join(pieces), language=language, max_units=400) == pieces


def test_the_table_is_a_corpus() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Das ist z.B. Herr Müller. |Gut."),
        ("fr", "J'ai vu Mme. Durand. |Elle va bien."),
        ("es-MX", "Vive la Sra. López. |Está bien."),
    ],
)
def test_the_language_brings_its_own_abbreviations(language: str, text: str) -> None:
    pieces = text.split("|")
    assert split("".join(pieces), language=language, max_units=400) == pieces


@pytest.mark.parametrize("text", ["", "。", "……！"])
def test_a_text_without_words_is_not_cut(text: str) -> None:
    assert split(text, language="zh", max_units=4) == ([text] if text else [])


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="max_units"):
        split("a", language="en", max_units=0)
