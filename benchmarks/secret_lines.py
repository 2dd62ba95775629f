"""Lines with made-up secrets and lines without any, filled in from patterns when they are read.

No line of the files in ``benchmarks/gold/secrets`` holds a key: ``{h32}`` becomes 32 hexadecimal
digits, and what stands between ``⟪`` and ``⟫`` must not survive the screen.
"""

from __future__ import annotations

import random
import re
import string
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.screen import Span

FOLDER = Path(__file__).parent / "gold" / "secrets"
ALNUM = string.ascii_letters + string.digits
WORDS = [
    "amber",
    "birch",
    "copper",
    "dune",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "juniper",
    "kelp",
    "lagoon",
]
SIGNS = {
    "h": "0123456789abcdef",
    "a": ALNUM,
    "A": string.ascii_uppercase + "234567",
    "d": "123456789",
    "b": ALNUM + "+/",
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "y": string.ascii_lowercase,
    "H": "0123456789ABCDEF",
    "x": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
BARE = "dy"
"""Of these a value may lack what the other signs must hold: a digit."""


class Line(NamedTuple):
    """One line of a data file, filled in."""

    kind: str
    text: str
    secrets: tuple[str, ...]
    """What must not survive; none in an ordinary line."""

    def places(self) -> list[tuple[int, int]]:
        """Return where its secrets begin and end."""
        places, end = [], 0
        for secret in self.secrets:
            start = self.text.index(secret, end)
            end = start + len(secret)
            places.append((start, end))
        return places


def survives(line: Line, spans: Iterable[Span]) -> bool:
    """Whether a letter or digit of a secret of a line is outside of what is masked."""
    masked = {at for span in spans for at in range(span.start, span.end)}
    return any(
        line.text[at].isalnum() and at not in masked
        for start, end in line.places()
        for at in range(start, end)
    )


def read_lines(path: Path, seed: int) -> Iterator[Line]:
    rng = random.Random(seed)
    for row in path.read_text(encoding="utf-8").splitlines():
        if not row or row.startswith("#"):
            continue
        kind, sort, pattern = row.split("|", 2)
        filled = FIELD.sub(lambda m: _value(rng, m[1]), pattern)
        filled = filled.replace("\\n", "\n").replace("\\t", "\t")
        secrets = tuple(re.findall(r"⟪(.*?)⟫", filled, re.DOTALL))
        assert bool(secrets) == (sort == "s"), row
        yield Line(kind, filled.replace("⟪", "").replace("⟫", ""), secrets)


def _value(rng: random.Random, name: str) -> str:
    if name in MADE:
        return MADE[name](rng)
    sort, length = name[0], int(name[1:])
    if sort == "w":
        return _password(rng, length)
    made = "".join(rng.choice(SIGNS[sort]) for _ in range(length))
    return made if sort in BARE or length < 8 else f"{made[:-3]}7{made[-2:]}"


def _password(rng: random.Random, length: int) -> str:
    body = "".join(rng.choice(ALNUM) for _ in range(length - 4))
    return (
        f"{rng.choice(string.ascii_uppercase)}{body}{rng.choice('!#$%&*')}{rng.choice('23456789')}x"
    )


LISTS = {
    "PW": (
        "password passwd pwd pass_word db_password DB_PASSWORD smtpPassword SMTP_PASS ADMIN_PWD "
        "userPassword login_pw rootPassword passphrase keystore_pass REDIS_PASSWORD sshPassword "
        "wifi_password bindpw JOB_PASSWORD master-password api_passwd"
    ),
    "KEY": (
        "api_key apiKey API_KEY secret client_secret clientSecret APP_SECRET token access_token "
        "accessToken AUTH_TOKEN auth_token signing_key SIGNING_KEY secretKey X-Api-Key "
        "x-auth-token private_key encryptionKey refresh_token bot_token "
        "credential webhook_secret licenseKey "
        "SESSION_SECRET deploy_token apikey"
    ),
    "PWEN": "password passphrase passcode pw pwd password passwd password",
    "DOOR": "gate door garage safe vault alarm lockbox padlock locker intercom barrier",
    "密码": "密码 口令 登录密码 管理员密码 开机密码 后台密码 数据库密码 邮箱密码 暗号 共享盘密码",
    "密钥": "密钥 令牌 秘钥 私钥 访问密钥 接口密钥 凭证 授权令牌",
    "门": "门禁 大门 单元门 保险柜 储物柜 车库门 仓库门 智能锁 行李箱锁",
    "type": "string str bytes int boolean text VARCHAR(255) string; char[64] Optional[str] null",
    "call": (
        "os.environ['X1'] getenv(\"A_B2\") settings.value get_value(2) config['db'].value "
        "read_file(path)[0] process.env.X_1 self._load(1) args.value row[3] request.form['p1'] "
        'hashlib.sha256(x).hexdigest() input() next(rows) System.getenv("X2") prompt("?")'
    ),
    "ident": (
        "user_name oldValue row2 self.value x1 itemCount parse_row2 get_user form.value TokenKind "
        "my_module.load_2 MAX_SIZE base64 utf8 node18 v2client sha256sum is_valid page-2 el-form"
    ),
    "path": (
        "/etc/app/keys.toml src/auth/login2.py docs/keys.md ./conf/db-1.yaml ~/.ssh/id_ed25519 "
        "C:\\\\app\\\\conf.ini app/models/user_2.rb /run/secrets/db1 tests/test_auth2.py"
    ),
}
LISTS["sorts"] = (
    "h7 h8 h12 h40 h64 uuid version date path ident d3 d5 d7 d9 ref order tag name time unit "
    "model issue range share"
)
LISTS["ANY"] = (
    "code codes pin lock unlock locked door gate safe vault user users account accounts admin root "
    "login network wifi key keys token tokens secret secrets auth cookie wallet backup "
    "recovery seed "
    "answer password passwords open enter type press dial member card visa passport combination "
    "credential credentials jwt bearer salt signing otp lockbox alarm garage portal vpn serial "
    "license voucher insurance tax entry echo sudo decrypt pair keypad"
)
LISTS["各"] = (
    "密码 口令 密钥 令牌 凭证 私钥 签名 验证码 激活码 代码 编码 号码 数码 条码 门 大门 "
    "部门 专门 柜子 箱子 "
    "邮箱 锁 闸机 账号 账户 用户 登录 后台 无线 编号 卡号 身份 护照 社保 医保 公积金 "
    "税号 恢复 备份 备用 "
    "助记词 位置 单位 岗位 输入 输出 按钮 按揭 token key wifi"
)
NAMES = ("wangwei", "liming", "xiaoxue", "dahai", "meimei", "laowang", "tiantian", "jiajia")
LEET = str.maketrans("aeo", "430")


def _chosen(rng: random.Random) -> str:
    """Return a password as people choose one: a word, a year, a sign."""
    one, other = rng.sample(WORDS, 2)
    sign = rng.choice("!@#*-_+?.~")
    return rng.choice(
        (
            f"{one.capitalize()}{rng.randint(10, 2026)}{sign}",
            f"{one}-{other}-{rng.randint(2, 99)}",
            f"{one.translate(LEET).capitalize()}{sign}{rng.randint(1, 99)}",
            f"{one.capitalize()}{other.capitalize()}{rng.randint(1, 999)}",
            f"{rng.choice(NAMES).capitalize()}{rng.randint(1970, 2026)}{sign}",
            f"{one}_{rng.randint(10, 99)}{sign}{other[:3].upper()}",
            _value(rng, f"l{rng.randint(8, 12)}"),
            _password(rng, rng.randint(8, 14)),
        )
    )


def _chosen_zh(rng: random.Random) -> str:
    """Return a password as people choose one who write Chinese: a name and a number."""
    name = rng.choice(NAMES)
    return rng.choice(
        (
            f"{name}{rng.randint(1, 9999)}",
            f"{name}{rng.choice('@#.')}{rng.randint(10, 99)}",
            _value(rng, "d8"),
            _chosen(rng),
        )
    )


def _listed(name: str, rng: random.Random) -> str:
    return rng.choice(LISTS[name].split())


def _innocent(rng: random.Random) -> str:
    """Return what stands beside any word and is no secret: an id, a hash, a version, a count."""
    name = rng.choice(LISTS["sorts"].split())
    return MADE[name](rng) if name in MADE else _value(rng, name)


def _joined(*parts: str, rng: random.Random) -> str:
    return "".join(_value(rng, part[1:]) if part[0] == "=" else part for part in parts)


def _grouped(value: str) -> str:
    return " ".join(value[at : at + 4] for at in range(0, len(value), 4))


def _card(rng: random.Random, prefix: str, length: int) -> str:
    body = prefix + "".join(rng.choice("0123456789") for _ in range(length - len(prefix) - 1))
    doubled = [sum(divmod(2 * int(sign), 10)) for sign in body[::-2]]
    return body + str(-(sum(doubled) + sum(map(int, body[-2::-2]))) % 10)


def _id_card(rng: random.Random, *, right: bool = True) -> str:
    born = f"19{rng.randint(50, 99)}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
    body = f"110105{born}{rng.randint(100, 999)}"
    total = sum(int(sign) * (2 ** (17 - place) % 11) for place, sign in enumerate(body))
    return body + "10X98765432"[total % 11 if right else (total + 3) % 11]


def _iban(rng: random.Random) -> str:
    body = "".join(rng.choice("123456789") for _ in range(18))
    return f"DE{98 - int(body + '131400') % 97:02d}{body}"


def _mobile(rng: random.Random) -> str:
    return "1" + rng.choice("35789") + "".join(rng.choice("0123456789") for _ in range(9))


def _digits(rng: random.Random, *lengths: int) -> str:
    return "-".join("".join(rng.choice("123456789") for _ in range(n)) for n in lengths)


MADE: dict[str, Callable[[random.Random], str]] = {
    **{name: partial(_listed, name) for name in LISTS},
    "INNOCENT": _innocent,
    "ref": lambda rng: _joined("=U3", "-", "=d4", rng=rng),
    "order": lambda rng: _joined("=U2", "=d12", rng=rng),
    "tag": lambda rng: _joined("=word", "-", "=d5", rng=rng),
    "name": lambda rng: _joined("=word", "=two", rng=rng),
    "time": lambda rng: _joined("=two", ":", "=two", rng=rng),
    "unit": lambda rng: _joined("=d3", rng.choice(("ms", "%", "GB", "kg", "mm", "元")), rng=rng),
    "model": lambda rng: _joined("=U3", "=d4", "=U1", rng=rng),
    "issue": lambda rng: _joined("#", "=d4", rng=rng),
    "range": lambda rng: _joined("=two", "-", "=two", rng=rng),
    "share": lambda rng: _joined("0.", "=d4", rng=rng),
    "date": lambda rng: f"20{rng.randint(19, 27)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "version": lambda rng: f"{rng.randint(0, 21)}.{rng.randint(0, 40)}.{rng.randint(0, 12)}",
    "uuid": lambda rng: "-".join(_value(rng, f"h{n}") for n in (8, 4, 4, 4, 12)),
    "word": lambda rng: rng.choice(WORDS),
    "pass": _chosen,
    "passzh": _chosen_zh,
    "phrase": lambda rng: rng.choice(" -").join(rng.sample(WORDS, rng.randint(3, 5))),
    "two": lambda rng: str(rng.randint(10, 60)),
    "words12": lambda rng: " ".join(rng.sample(WORDS, 12)),
    "card16": lambda rng: _card(rng, "4", 16),
    "cardspaced": lambda rng: _grouped(_card(rng, "4", 16)),
    "amex": lambda rng: _card(rng, "37", 15),
    "ibanspaced": lambda rng: _grouped(_iban(rng)),
    "basic": lambda rng: b64encode(f"svc:{_value(rng, 'a14')}".encode()).decode(),
    "b4l": lambda rng: "".join(rng.choice(SIGNS["A"].lower()) for _ in range(4)),
    "card19": lambda rng: _card(rng, "6222", 19),
    "cnid": _id_card,
    "cnidbad": lambda rng: _id_card(rng, right=False),
    "mobile": _mobile,
    "mobilefw": lambda rng: _mobile(rng).translate({48 + n: 0xFF10 + n for n in range(10)}),
    "iban": _iban,
    "ssn": lambda rng: _digits(rng, 3, 2, 4),
}
FIELD = re.compile(
    rf"(?<!\$)\{{({'|'.join(sorted(MADE, key=len, reverse=True))}|[{''.join(SIGNS)}w]\d+)\}}"
)
