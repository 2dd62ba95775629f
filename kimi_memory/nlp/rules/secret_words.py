"""The words that announce a secret, in families: *password*, *token*, *code*, *door*, *account*.

They count anywhere in a name: ``db_password``, ``smtpPass``, ``X-Vault-Token``, ``--auth-key``.
"""

# ruff: noqa: E501  patterns are read as a table

from __future__ import annotations

from collections.abc import Sequence

from kimi_memory.nlp.basic.patterns import keep_results, regex

_FAMILIES = {
    "pass": r"pass ?(?:word|phrase|code|wort)s?|passwo?r?d|passw|\bpass\b|pass(?:_|$)|(?-i:[a-z]Pass\b|_pass\b|Pass$)|\w[_-]pass\b|requirepass|pwd|passkey|bindpw|\bpw\b|_pw\b|psk\b|kennwort|contrase[nñ]a|senha|wachtwoord|passe\b|пароль|secret word|\bwords? is\b|密码|口令|暗号|暗语|密语|密碼|开机|パスワード|暗証番号",
    "key": r"secrets?|tokens?|keys?\b|key(?:_|[A-Z0-9])|cred(?:ential)?s?\b|auth(?:orization|tok|token)?\b|auth(?:_|-)|_auth\b|bearer|cookie|jwt|signing|salt|hmac|dsn\b|licen[cs]e[ _-]?key|product key|schl(?:ü|ue)ssel|magic link|_[SA]K\b|_PAT\b|密钥|秘钥|令牌|凭[证据]|私钥|密匙|签名|授权码",
    "seed": r"seed|mnemonic|recovery|backup|wallet|unseal|(?:security|secret) (?:question|answer)|maiden|助记词|恢复|备[用份]|密保",
    "code": r"\bpins?\b|pin\b|pincode|\bpuk\d?\b|\botp\b|\btotp\b|\bcv[vcn]2?\b|codes?\b|code\b|combination|combo\b|serial number|voucher|gift card|authenticator|[一-鿿]码|[后三四]位",
    "lock": r"lock(?:s|ed|er|box)?\b|unlock\w*|safe\b|vault|gate\b|door|garage|alarm|key ?pad|intercom|padlock|barrier|buzzer|suitcase|voice ?mail|pair\b|pairing|\bpress\b|\bdial\b|\bpunch\b|\benter\b|\btype\b|opens?\b|锁|柜|门|闸|箱|输入?|按",
    "login": r"user(?:name)?s?\b|\blog(?:ged|ging|s)?[ -]?(?:in|on)\b|sign(?:ed)? in|accounts?\b|admin\b|root\b|ssid|wi-?fi|wlan|hotspot|network|portal|vpn|[账帐][号户]|用户名?|登[录陆]|后台|无线|WiFi",
    "flag": r"\s/p(?:ass(?:word)?|wd)?:|\s-(?:[pPwWkKaAX]|pw|pass|psk)[\s=]|<<<|securestring|decrypt\w*|\becho\b|\bsudo\b|bcrypt",
    "number": r"(?:account|member(?:ship)?|passport|licen[cs]e|permit|visa|insurance|social security|tax|identity|national|entry|patient|medicare|residence|employer)[ -]?(?:number|no\b\.?|nr\b\.?|#)|\w+nummer\b|\bssn\b|\bein\b|\bvat\b|\biban\b|\bpassport\b|\b(?:nie|dni|dsk|visa|master ?card|amex|card|nino|bsn|cpf|nif|pesel|aadhaar)\b|身份|护照|驾[照驶]|通行证|[台回居军港]\S{1,3}证|[^\x00-\x7f\n]{0,2}证号|社保|医保|公积金|卡号|编号|[账帐]号|代码|税号|发动机号|车架号",
}
_KEYS = {
    "pass": "pass pw psk kennwort contrase senha wachtwoord пароль word 密码 口令 暗号 暗语 密语 密碼 开机 パスワード "
    "暗証番号",
    "key": "secret token key cred auth bearer cookie jwt signing salt hmac dsn licen magic _sk "
    "_ak _pat 密钥 秘钥 令牌 凭 私钥 密匙 签名 授权 schl",
    "seed": "seed mnemonic recovery backup wallet unseal question answer maiden 助记词 恢复 备 密保",
    "code": "pin puk otp cv code comb serial voucher gift authenticator 码 位",
    "lock": "lock safe vault gate door garage alarm pad intercom barrier buzzer suitcase voice "
    "pair press dial punch enter type open 锁 柜 门 闸 箱 输 按",
    "login": "user log sign account admin root ssid wifi wi-fi wlan hotspot network portal vpn 账 帐 "
    "用户 登 后台 无线",
    "flag": "/p -p -w -k -a -x <<< securestring decrypt echo sudo bcrypt",
    "number": "account member licen permit insurance social tax identity national entry patient "
    "medicare residence employer nummer ssn ein vat iban passport visa master amex card nino bsn cpf "
    "nif pesel aadhaar nie dni dsk 身份 护照 驾 证 社保 医保 公积金 卡号 编号 账 帐 代码 税号 发动机号 车架号",
}
"""Pieces in small letters, one of which every word of a family holds."""
_NAMES = tuple(_FAMILIES)
_FAMILY = regex("(?i)(?:" + "|".join(f"({pattern})" for pattern in _FAMILIES.values()) + ")")
OFTEN = ("pass", "key", "seed", "code", "flag")
LOGINS = ("login",)
NUMBERED = ("lock", "number")
"""Families of one rule; the values of the last two hold digits."""


def words_of(families: Sequence[str]) -> str:
    """Return the pattern of the words of some families."""
    return "(?i)(?:" + "|".join(_FAMILIES[name] for name in families) + ")"


def keys_of(families: Sequence[str]) -> str:
    """Return pieces in small letters, one of which each of these words holds."""
    return " ".join(_KEYS[name] for name in families)


@keep_results(1024)
def family_of(word: str) -> str:
    """Return the family of a word that announces."""
    found = _FAMILY.fullmatch(word)
    return _NAMES[(found.lastindex or 1) - 1] if found else _NAMES[0]
