"""Briefs: what is being made, and what only names a thing in passing."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.briefs import brief_in, tells_brief


@pytest.mark.parametrize(
    "text",
    [
        "I want to build an app that tells beekeepers when to open the hive",
        "we're looking to build a booking platform for small theatres",
        "Help me make a board game about lighthouses.",
        "Can you build me a simple tracker for the choir's sheet music?",
        "I need an automated system to sort the post",
        "We have a company called Rye & Sons that delivers flour",
        "This is a single page site for the harbour festival",
        "Ferry is a command line tool that moves photos between phones",
        "The goal of this project is to measure the tide with two sensors.",
        "This project aims to translate field notes",
        "我想做一个养蜂记录的小程序",
        "帮我开发一款给合唱团用的排练软件",
        "今天开个新坑：想做一个拼车的小程序",
        "这个系统是用来管理仓库借还的",
        "本项目旨在开发一个展览预约平台",
    ],
)
def test_what_is_made_is_known(text: str) -> None:
    assert tells_brief(text)


@pytest.mark.parametrize(
    "text",
    [
        "make the app icon blue",
        "please write a test for the parser",
        "create a new branch for the export",
        "the app is not working on my phone",
        "this site is still down",
        "can you make a list of the pages?",
        "I want to change the colour of the button in the app",
        "our system is too slow again",
        "I want the app to show past events in one row",
        "let's make the app responsive",
        "Can you make the website faster?",
        "please create a service for the login",
        "create a model for bookings",
        "Create a brand style guide for the choir",
        "our application is showing an error",
        "make sure our app is fast",
        "打开应用看一下",
        "新建一个网站部署的教程",
        "这个页面的按钮不对",
        "帮我看一个报错",
        "",
    ],
)
def test_a_thing_named_in_passing_is_no_brief(text: str) -> None:
    assert not tells_brief(text)


def test_the_first_sentence_that_tells_it_is_found_near_the_beginning() -> None:
    told = "Read the notes first. We want to build an app with all springs. It is for hikers."
    assert brief_in(told, 1000) == "We want to build an app with all springs."
    assert brief_in(told, 20) == ""
    assert brief_in("", 1000) == ""
