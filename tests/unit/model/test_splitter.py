"""One splitter for streamed and whole replies: the same public text whatever the pieces are (R-REACT-05)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuzui.model.splitter import ReasoningSplitter, split_reasoning

CASES = [
    ('<think>用户在问{知识}吗？</think>\n{"intent":"knowledge_question"}', '{"intent":"knowledge_question"}'),
    ("<think>...</think>模型用 `<think>` 包住推理。", "模型用 `<think>` 包住推理。"),
    ("<think>a</think>初稿<think>b</think>终稿", "初稿终稿"),
    ("<think>用户问 `</think>` 是什么…</think>它表示推理结束", "它表示推理结束"),
    ("<think>一直没有结束", ""),
    ("<thinking>a</thinking>\n<reasoning>b</reasoning>答", "答"),
    ("<THINK >a</Think>答", "答"),
    ("<think>a<think>b</think>c</think>答", "答"),
    ("没有开头标签的推理</think>答", "答"),
    ("a < b，<thinker> 不是标签 <thi", "a < b，<thinker> 不是标签 <thi"),
    ("例：\n```xml\n<think>\nx\n</think>\n```\n完", "例：\n```xml\n<think>\nx\n</think>\n```\n完"),
    ("所谓“<think>”标签", "所谓“<think>”标签"),
    ("`孤立的反引号\n<think>b</think>答", "`孤立的反引号\n答"),
]
PARTS = [
    "<think>",
    "</think>",
    "<thinking>",
    "</reasoning>",
    "`",
    "```",
    "\n",
    "<",
    ">",
    "/think>",
    "“",
    "”",
    "文 ",
    '{"a":1}',
]


@pytest.mark.parametrize(("text", "public"), CASES)
def test_B01_only_the_public_text_is_left(text: str, public: str) -> None:
    assert split_reasoning(text)[0] == public


@pytest.mark.parametrize(("text", "public"), CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
def test_every_chunk_boundary_gives_the_same_text(text: str, public: str, size: int) -> None:
    splitter = ReasoningSplitter()
    for at in range(0, len(text), size):
        splitter.feed(text[at : at + size])
    splitter.finish()
    assert splitter.text == public


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_streamed_and_whole_agree_for_any_text(text: str, sizes: list[int]) -> None:
    splitter, at, n = ReasoningSplitter(), 0, 0
    while at < len(text):
        size = sizes[n % len(sizes)]
        splitter.feed(text[at : at + size])
        at, n = at + size, n + 1
    splitter.finish()
    assert (splitter.text, splitter.reasoning) == split_reasoning(text)


def test_what_is_streamed_is_the_public_text_when_blocks_are_well_formed() -> None:
    splitter = ReasoningSplitter()
    text = "<think>想一想</think>你好，<think>再想</think>世界"
    shown = "".join(splitter.feed(char) for char in text) + splitter.finish()
    assert shown == splitter.text == "你好，世界"
    assert splitter.reasoning == "想一想再想"
