"""What announces a secret, and what it looks like, count together."""

import time

import pytest
from kimi_memory.plugins import privacy

from kimi_memory.nlp.learned.letters import oddness_of
from kimi_memory.nlp.rules.secret_words import looks_of

KINDS = [
    "bindpw ⟪Cobble$tone14⟫",
    "tacacs-server key 0 ⟪MintyOwl_33⟫",
    "export TF_VAR_db_pw=⟪meadow_lark_7⟫",
    "POSTGRES_PASSWORD: ${PGPW:-⟪saffron12⟫}",
    "echo '⟪cobalt-Ray-51⟫' > /run/secrets/db_password",
    'fetch(u, {headers: {Authorization: "Token ⟪8f3a9c1e7b5d2046⟫"}})',
    "⟪cedar-Lamp-19⟫ should still work as the vpn password",
    "⟪Falcon!2030⟫ (root password of the NAS)",
    "name;user;pw\ncrm;eva;⟪Bracken!5x⟫",
    "credentials:\n  user: etl\n  password: >-\n    ⟪river.Stone.42⟫",
    "my card pin is ⟪five two zero nine⟫",
    "radio code for the Clio is ⟪6614⟫",
    "⟪lvdou2046⟫ 是邮箱密码",
    "账户 liming 暗语 ⟪shanhai99⟫",
    "这个接口要带 key=⟪9Kd02LmQ7xPv⟫",
    "mysql://erp:⟪linen@2044fog⟫@10.9.8.7:3306/erp",
    "npm publish --otp=⟪730164⟫ before it ends",
    "the signing key of the gpg job is ⟪3ef65b72f69c86bda01665e289fdac131a58e7df⟫",
]
ORDINARY = [
    "the token limit is 128000 for this model",
    "message id 9Kd02LmQ7xPv4Rt8 was truncated at max_tokens",
    "ED25519 key fingerprint is SHA256:b7Kq2LxV9pTn4RwZYc8MdE1oHs0uJfGh",
    'const key = "user:1234:name"',
    '{"session": "xiaozao-0225", "project": "kitchen"}',
    "docker run -p 8080:80 -e NODE_ENV=production2 app",
    "press Ctrl+Shift+P and type reload",
    "the alarm went off at 0630, gate A17",
    "密码错误次数超过 5 次会锁定",
    "用户 1042 反馈登录页改成 v2",
    "password: !vault_ref kv/data/prod/pg#password",
    "key: locker.n10",
    "上次没有备份… ^project-01m828pbm01r5k5qj7jpqp6p43",
    "WPA2 PSK #26-28",
    "健康码、邮编 310021、行业代码都转成文本",
    "| run | pass | fail |\n|---|---|---|\n| nightly | 1482 | 37 |\n",
    "- 11:49 user：我的建议：SD3.5-Medium7x，画质更好",
    "the backup is distil-19c22714a82c, see ^turn-mxn2-1",
    "- key: fact.port-8081-larkspur",
    '{"key": "小车.ip2"}',
    "gpg: using RSA key 3ef65b72f69c86bda01665e289fdac131a58e7df",
    "My GPG key is 3ef65b72f69c86bd",
    "git config user.signingkey 3EF65B72F69C86BDA01665E289FDAC131A58E7DF",
    "gpg --armor --export-secret-keys 3EF65B72F69C86BD",
    '{"project_key": "-home-me-shop", "session_id": "0b1c"}',
    '{"project_key": "-home-me-the-shop-of-ann", "type": "thinking", '
    '"signature": "EqQBCkYIChgCKkAq7R8a1B2c3D4e5F6g7H8i9J0k"}',
    '{"cacheKey": "user:17", "requestId": "77c1d"}',
    "  1064→+passwords are read here\n  1065→+",
]


@pytest.mark.parametrize("line", KINDS)
def test_a_secret_is_known_by_its_word_and_its_looks(line: str) -> None:
    before, secret, _ = line.replace("⟫", "⟪").split("⟪")
    spans = privacy.create({}).screen_text(line.replace("⟪", "").replace("⟫", ""))
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert set(range(len(before), len(before) + len(secret))) <= covered


@pytest.mark.parametrize("line", ORDINARY)
def test_what_is_named_counted_or_public_is_no_secret(line: str) -> None:
    assert privacy.create({}).screen_text(line) == []


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("2031-03-02", "date"),
        ("v2.3.1", "version"),
        ("src/app.py", "file"),
        ("bfg-1.14.0.jar", "file"),
        ("$1,700.00", "measure"),
        ("https://a.test/b", "url"),
        ("550e8400-e29b-41d4-a716-446655440000", "uuid"),
        ("${TOKEN}", "template"),
        ("<your-token>", "sample"),
        ("maple-Fox-27", "kebab"),
        ("Cobble$tone14", "odd"),
        ("4417#", "star"),
    ],
)
def test_a_value_has_a_form(value: str, form: str) -> None:
    assert next(iter(looks_of(value))) == form


def test_drawn_letters_are_odder_than_words() -> None:
    assert max(map(oddness_of, ("password", "getUserName", "xiaoming"))) < oddness_of("kqzvwmxhtr")


@pytest.mark.parametrize("piece", ["pass ", "key=x ", "code 1 2 3 4 ", "token,token;", "按"])
def test_time_grows_with_the_words_for_secrets_and_no_faster(piece: str) -> None:
    plugin = privacy.create({})
    plugin.screen_text("password: warm-Up-9")

    def cost(size: int) -> float:
        begun = time.process_time()
        plugin.screen_text(piece * (size // len(piece)))
        return time.process_time() - begun

    assert cost(100_000) < 16 * cost(25_000) + 0.05
