"""Opposites: the same statement with one word turned round, in both languages."""

from __future__ import annotations

import pytest

from kimi_memory.nlp.rules.opposites import opposed

OPPOSED = [
    ("We always deploy the shop on Fridays.", "We never deploy the shop on Fridays."),
    ("Guests are allowed to comment.", "Guests are forbidden to comment."),
    ("The nightly backup is enabled.", "The nightly backup is disabled"),
    ("I hate black coffee.", "I like black coffee."),
    ("Phone numbers are required.", "Phone numbers are optional."),
    ("The repository is public.", "The repository is private."),
    ("The reviewer rejected the patch.", "The reviewer approved the patch."),
    ("Logs are encrypted on disk.", "Logs are unencrypted on disk."),
    ("Cancel buttons must keep the draft.", "Cancel buttons must delete the draft."),
    ("Ship it with source maps.", "Ship it without source maps."),
    ("周五允许部署前端。", "周五禁止部署前端"),
    ("他喜欢早上喝黑咖啡。", "他讨厌早上喝黑咖啡。"),
    ("测试服务器已经启用备份。", "测试服务器已经停用备份。"),
    ("旧日志一律保留。", "旧日志一律删除。"),
    ("手机号是必填的。", "手机号是选填的。"),
    ("图片默认公开。", "图片默认私有。"),
    ("房东同意养猫。", "房东拒绝养猫。"),
    ("列表按时间升序排列。", "列表按时间降序排列。"),
    ("審核必須手動。", "审核必须自动。"),
    ("这次部署成功了。", "这次部署失败了。"),
]
APART = [
    ("We always deploy on Fridays.", "We never deploy on Mondays."),
    ("The cache is on node one.", "The cache is on node two."),
    ("I like black coffee.", "I like green tea."),
    ("Guests may comment.", "Guests may comment."),
    ("The office opens at nine.", "The shop closes at nine."),
    ("Turn it on.", "Turn it on"),
    ("She moved on.", "She moved often."),
    ("The first build passed.", "The second build passed."),
    ("Start the server.", "Stop the server."),
    ("Back up before the migration.", "Back up after the migration."),
    ("We keep logs for a week.", "We keep logs for a month."),
    ("Offline maps are loved.", "Online courses are loved."),
    ("周五允许部署前端。", "周六禁止部署后端。"),
    ("他喜欢喝咖啡。", "她喜欢喝咖啡。"),
    ("数据库用 SQLite。", "数据库用 MongoDB。"),
    ("会议在上午九点。", "会议在上午十点。"),
    ("他买了一辆车。", "他卖了一套房。"),
    ("图片默认公开。", "视频默认公开。"),
    ("我住在成都。", "我住在北京。"),
    ("打开灯。", "关闭灯。"),
    ("部署之前要备份。", "部署之后要备份。"),
    ("进度很好。", "进度不错。"),
    ("备份每晚一次。", "备份每周一次。"),
    ("", ""),
]


@pytest.mark.parametrize(("one", "two"), OPPOSED)
def test_one_word_turned_round_is_the_opposite(one: str, two: str) -> None:
    assert opposed(one, two) and opposed(two, one)


@pytest.mark.parametrize(("one", "two"), APART)
def test_other_differences_are_no_opposites(one: str, two: str) -> None:
    assert not opposed(one, two)
