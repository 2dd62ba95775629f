"""What was copied from a page or a program, and stands for no talk."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.pasted import own_sentences

EN, ZH = "We decided to use Redis.", "我们决定用 Redis。"
COPIED = [
    "Posted by u/tomcat42 5 hours ago\n{}",
    "@tomcat · 3h\n{}\n12 Retweets 40 Likes",
    "1\n00:00:01,000 --> 00:00:04,000\n{}",
    "WEBVTT\n\n00:01.000 --> 00:04.000\n{}",
    "tomcat commented 2 days ago\n{}",
    "tomcat — Today at 10:02\n{}",
    "老王(产品部)  10:02\n{}",
    "原创 老王 2026-03-02 10:02 北京\n\n{}",
    "@老王 03-02 10:02 来自 微博网页版\n{}",
    "= Payments\n:author: Tom\n\n{}",
    "Payments\n========\n\n{}",
    "\\section{{Payments}}\n{}",
    "author: Tom\nbody: |\n  {}",
    "| who | what |\n|---|---|\n| Tom | {} |",
    "编号,作者,内容\n1,老王,{}",
    "Tom (10:02): hello there, I am in.\nTom (10:03): {}",
    "{}\n— Tom Sawyer",
    "{}——老王",
    "Which sentence is correct? a) {} b) It rained.",
    "哪句对？A. {} B. 下雨了。",
    "甲方：老王\n一、存储：{}",
]
OWN = [
    "2026-03-02\n{}",
    "Meeting at 10:00 today\n{}",
    "Two days ago I met Tom.\n{}",
    "tea, coffee, water\n{}",
    "{} - it took two days",
    "Which one? {}",
    "Causes: 1. we were late; 2. nobody asked. Then: {}",
    "要点 一、起因：1. 迟到；2. 没问。二、{}",
    "昨天 10:02 开的会\n{}",
]


@pytest.mark.parametrize("around", COPIED)
def test_what_was_copied_is_nobodys_own(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert not [text[a:b] for a, b in own_sentences(text) if said in text[a:b]]


@pytest.mark.parametrize("around", OWN)
def test_what_only_looks_like_it_stays(around: str) -> None:
    said = EN if around.isascii() else ZH
    text = around.format(said)
    assert any(said.rstrip(".。") in text[a:b] for a, b in own_sentences(text))
