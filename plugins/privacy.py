r"""Secrets and private data in what is said, named so that they can be masked.

Why it exists: what is stored is indexed, committed, synced and put into prompts, so
keys, passwords and personal numbers must be found before the first byte is written.
The rules are written from the token formats that vendors publish and from how people
tell each other passwords, in Chinese and in English. They run in RE2, whose time
grows with the text and never with the pattern.

Settings, in the user's own ``config.toml``::

    [plugins.privacy]
    allow = ["email"]                    # rules that are switched off
    [plugins.privacy.extra]              # name -> RE2 pattern; group 1 is what is masked
    staff-number = 'staff no\. (\d{6})'
"""

# ruff: noqa: E501  the table of rules is read as a table, one rule a line

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kimi_memory import hookimpl
from kimi_memory.errors import PluginError
from kimi_memory.model.screen import Span
from kimi_memory.text.regex import regex

if TYPE_CHECKING:
    import re2

_KEBAB = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_PLACEHOLDER = regex(
    r"[<$%{\[*.…⟦]|(?:your|my|the|some)[-_ ]|x{4}|example|change_?me|placeholder|dummy|redacted"
    r"|\.{3}|\*{3}|(?:insert|replace)[-_]|0{8}|sk-1234",
    re.IGNORECASE,
)
_IDENTIFIER = regex(r"[A-Za-z_][A-Za-z_.-]*[;,]?")
_CODE = regex(r"[\w.\[\]\"']*[(\[]|(?:os|self|process|settings|config|env|args|req)\.", re.I)
_WORDS = frozenset(
    (
        *("none", "null", "true", "false", "string", "str", "int", "number", "bool", "boolean"),
        *("required", "optional", "wrong", "incorrect", "invalid", "expired", "missing", "empty"),
        *("hidden", "secret", "password", "token", "stored", "hashed", "encrypted", "reset"),
    )
)
_CARD = regex(r"3[04-9]|4|5|6|9|22[2-9]|2[3-6]|27[0-2]")
"""How cards begin; order numbers mostly begin with a date."""
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)

Check = Callable[[str, int, int], bool]


def _is_any(text: str, start: int, end: int) -> bool:
    """Accept what a pattern found: its surroundings are proof enough."""
    return True


def _holds_digit(text: str, start: int, end: int) -> bool:
    return any(sign.isdigit() for sign in text[start:end])


def _is_credential(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return not _PLACEHOLDER.match(value) and value.lower() not in ("password", "pass", "pw")


def _is_real(text: str, start: int, end: int) -> bool:
    """Whether it is no placeholder of the documentation."""
    value = text[start:end]
    found = _PLACEHOLDER.match(value) or _PLACEHOLDER.search(value, 1)
    is_marked = found is not None and (found.start() == 0 or len(found[0]) > 1)
    return not is_marked and len(set(value)) > 3


def _has_digit(text: str, start: int, end: int) -> bool:
    return _is_real(text, start, end) and _holds_digit(text, start, end)


def _is_value(text: str, start: int, end: int) -> bool:
    """Whether what is assigned is a value, not a name, a type, a call or a word."""
    value = text[start:end].rstrip(".,;!?)\"'")
    if not _is_real(text, start, start + len(value)) or _CODE.match(value):
        return False
    if value.lower() in _WORDS or value.startswith(("/", "./", "~/", "http")):
        return False
    is_quoted = text[start - 1 : start] in "\"'" and text[end : end + 1] in "\"'"
    return is_quoted or not _IDENTIFIER.fullmatch(value)


def _is_password(text: str, start: int, end: int) -> bool:
    """Whether a short value is a password: digits alone count too."""
    value = text[start:end].rstrip(".,;!?)\"'")
    if value.lower() in _WORDS or _PLACEHOLDER.match(value) or _CODE.match(value):
        return False
    return not _IDENTIFIER.fullmatch(value) and len(set(value)) > 1


def _is_strong(text: str, start: int, end: int) -> bool:
    """Whether letters, digits and something odder are mixed as only passwords mix them."""
    value = text[start:end].rstrip(".,;:!?)\"'")
    if not _is_password(text, start, start + len(value)) or "/" in value:
        return False
    is_mixed = value.lower() != value and value.upper() != value
    odd = is_mixed or any(sign in "!$%&*#@^" for sign in text[start:end])
    return odd and any(sign.isdigit() for sign in value) and not value[:1].isdigit()


def _digits(text: str, start: int, end: int) -> list[int]:
    return [int(sign) for sign in text[start:end] if sign in "0123456789"]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is not a piece of a longer number, name, hash or path."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    is_glued = (
        before[-1:] in tuple("_/-.=#@%&") and before[-2:-1].isascii() and before[-2:-1].isalnum()
    )
    is_continued = after[:1] in tuple("_-./@%") and after[1:].isascii() and after[1:].isalnum()
    return not is_glued and not is_continued


def _is_luhn(text: str, start: int, end: int) -> bool:
    digits = _digits(text, start, end)
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 3 or not _CARD.match(text, start):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    is_sum_right = (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
    return is_sum_right and _stands_alone(text, start, end)


def _is_id_card(text: str, start: int, end: int) -> bool:
    number = text[start:end].upper()
    total = sum(int(digit) * weight for digit, weight in zip(number, _ID_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == number[17] and _stands_alone(text, start, end)


def _is_iban(text: str, start: int, end: int) -> bool:
    value = text[start:end].replace(" ", "").upper()
    if not 15 <= len(value) <= 34:
        return False
    turned = value[4:] + value[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _is_phone(text: str, start: int, end: int) -> bool:
    return 9 <= len(_digits(text, start, end)) <= 15 and _stands_alone(text, start, end)


def _is_local_phone(text: str, start: int, end: int) -> bool:
    return 9 <= len(_digits(text, start, end)) <= 12


def _is_address(text: str, start: int, end: int) -> bool:
    """Whether an e-mail address is one, not the ``git@host:path`` of a remote."""
    return not (text[start:end].startswith("git@") and text[end : end + 1] in ":/")


class Rule(NamedTuple):
    """One sort of secret: group 1 of the pattern, else all of it, is what is masked."""

    name: str
    pattern: str
    keys: tuple[str, ...] = ()
    """Lower-case pieces, one of which any match contains; none: the pattern always runs."""
    check: Check = _is_real
    digits: int = 0
    """How many digits any match holds at least."""


def _rule(
    name: str, pattern: str, keys: str = "", check: Check = _is_real, digits: int = 0
) -> Rule:
    return Rule(name, pattern, tuple(keys.split()), check, digits)


_LABEL = (
    r"(?:[a-z0-9]+[_-])*(?:secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|secret[_-]?key"
    r"|private[_-]?key|client[_-]?secret|app[_-]?secret|credentials?|apikey|signing[_-]?key)"
)
_PHRASE = r"(?:[a-z0-9_-]{0,40}(?:password|passwd|passphrase|passcode|pwd)|(?:[a-z0-9]+[_-])+pass)"
_SET = r"[\"']?\s{0,4}(?::=|=>|[:=：]|是|为)\s{0,4}[\"']?"
_ZH_PHRASE = r"(?:密码|口令|密钥|秘钥|令牌|凭证|私钥|暗号|开机码|解锁码)"
_ZH_IS = r"[\"”」》]?\s{0,3}(?:是|为|改成了?|改为|设成了?|设为|换成了?|：|:|=|就是|还是)[\s：:“\"「]{0,4}"

_DIGITS = "0 1 2 3 4 5 6 7 8 9"

# fmt: off
RULES: tuple[Rule, ...] = (
    # Clouds
    _rule("aws-access-token", r"\b((?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16})\b", "akia asia abia acca a3t"),
    _rule("aws-secret-key", r"(?i)(?:secret_?access_?key|aws_?secret_?key|aws.{0,20}secret.{0,20}?)[\"']?[\s:=：是为]{1,6}[\"']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", "secret"),
    _rule("aws-session-token", r"(?i)session_?token[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+=]{100,})", "session_token sessiontoken"),
    _rule("aws-mws-token", r"amzn\.mws\.[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "amzn.mws"),
    _rule("gcp-api-key", r"\b(AIza[\w-]{35})", "aiza"),
    _rule("gcp-oauth-token", r"\b(ya29\.[\w-]{20,})", "ya29."),
    _rule("gcp-client-secret", r"\b(GOCSPX-[\w-]{24,})", "gocspx-"),
    _rule("gcp-refresh-token", r"\b(1//0[\w-]{40,})", "1//0"),
    _rule("azure-storage-key", r"(?i)accountkey=([A-Za-z0-9+/]{86}==)", "accountkey="),
    _rule("azure-shared-key", r"(?i)sharedaccesskey=([A-Za-z0-9+/]{43}=)", "sharedaccesskey="),
    _rule("azure-sas-signature", r"[?&]sig=([A-Za-z0-9%/+=]{40,})", "sig="),
    _rule("azure-client-secret", r"([\w~.-]{3}\dQ~[\w~.-]{31,34})", "q~"),
    _rule("azure-devops-token", r"\b(\w{76}AZDO\w{4})\b", "azdo"),
    _rule("alibaba-access-key", r"\b(LTAI[A-Za-z0-9]{12,24})\b", "ltai"),
    _rule("tencent-secret-id", r"\b(AKID[A-Za-z0-9]{32})\b", "akid"),
    _rule("baidu-api-key", r"\b(bce-v3/ALTAK-[A-Za-z0-9]{21}/[0-9a-f]{40})", "bce-v3"),
    _rule("baidu-access-key", r"\b(ALTAK-[A-Za-z0-9]{21})\b", "altak-"),
    _rule("volcengine-access-key", r"\b(AKLT[A-Za-z0-9_-]{40,})", "aklt"),
    _rule("digitalocean-token", r"\b(do[opr]_v1_[0-9a-f]{64})\b", "_v1_"),
    _rule("cloudflare-token", r"(?i)cloudflare.{0,40}?[\s:=\"'：是]([\w-]{40})(?:[^\w-]|$)", "cloudflare", _has_digit),
    _rule("cloudflare-origin-key", r"\b(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})", "v1.0-"),
    _rule("heroku-key", r"\b(HRKU-[\w-]{36,})|(?i)heroku.{0,40}?[\s:=\"'：是]([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})", "heroku hrku-"),
    _rule("planetscale-token", r"\b(pscale_(?:tkn|pw|oauth)_[\w.=-]{32,})", "pscale_"),
    _rule("supabase-token", r"\b(sb[ps]_(?:secret_)?[\w]{30,})", "sbp_ sbs_"),
    # Code hosts and package registries
    _rule("github-token", r"\b(ghp_[A-Za-z0-9]{36})", "ghp_"),
    _rule("github-oauth-token", r"\b(gho_[A-Za-z0-9]{36})", "gho_"),
    _rule("github-app-token", r"\b(gh[us]_[A-Za-z0-9]{36})", "ghu_ ghs_"),
    _rule("github-refresh-token", r"\b(ghr_[A-Za-z0-9]{36,76})", "ghr_"),
    _rule("github-fine-grained-token", r"\b(github_pat_\w{40,})", "github_pat_"),
    _rule("gitlab-token", r"\b(gl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|oas|agent|rtr)-[\w-]{20,})", "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- gloas- glagent- glrtr-"),
    _rule("gitlab-runner-token", r"\b(GR1348941[\w-]{20,})", "gr1348941"),
    _rule("gitee-token", r"(?i)gitee.{0,40}?[\s:=\"'：是]([0-9a-f]{32})\b", "gitee"),
    _rule("npm-token", r"\b(npm_[A-Za-z0-9]{36})", "npm_"),
    _rule("pypi-token", r"\b(pypi-A[\w-]{50,})", "pypi-a"),
    _rule("rubygems-token", r"\b(rubygems_[0-9a-f]{48})", "rubygems_"),
    _rule("crates-token", r"\b(cio[A-Za-z0-9]{32})\b", "cio", _has_digit),
    _rule("docker-token", r"\b(dckr_(?:pat|oat)_[\w-]{27,})", "dckr_"),
    _rule("postman-key", r"\b(PMAK-[0-9a-f]{24}-[0-9a-f]{34})", "pmak-"),
    _rule("atlassian-token", r"\b(ATATT3[\w=-]{60,})", "atatt3"),
    _rule("sentry-token", r"\b(sntry[su]_[\w+/=-]{40,})", "sntrys_ sntryu_"),
    _rule("newrelic-key", r"\b(NRAK-[A-Z0-9]{27})", "nrak-"),
    _rule("grafana-token", r"\b(gl(?:sa|c)_[A-Za-z0-9+/=_]{32,})", "glsa_ glc_"),
    _rule("vault-token", r"\b(hv[sbr]\.[\w-]{24,})", "hvs. hvb. hvr."),
    _rule("terraform-token", r"\b([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})", ".atlasv1."),
    _rule("databricks-token", r"\b(dapi[0-9a-f]{32})(?:-\d)?\b", "dapi"),
    _rule("doppler-token", r"\b(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})", "dp."),
    # Chat and mail
    _rule("slack-token", r"\b(xox[abeprs](?:\.xox[bp])?-[\w-]{10,})", "xoxa- xoxb- xoxe xoxp- xoxr- xoxs-", _has_digit),
    _rule("slack-app-token", r"\b(xapp-\d-[\w-]{20,})", "xapp-"),
    _rule("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+]{30,})", "hooks.slack.com"),
    _rule("telegram-bot-token", r"\b(\d{8,10}:AA[\w-]{33})", ":aa"),
    _rule("discord-token", r"\b([MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38})", _DIGITS, _has_digit),
    _rule("discord-webhook", r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[\w-]{40,})", "api/webhooks"),
    _rule("twilio-key", r"\b(SK[0-9a-f]{32})\b", "sk"),
    _rule("twilio-auth-token", r"(?i)twilio.{0,40}?[\s:=\"'：是]([0-9a-f]{32})\b", "twilio"),
    _rule("sendgrid-key", r"\b(SG\.[\w-]{16,32}\.[\w-]{30,64})", "sg."),
    _rule("mailgun-key", r"\b((?:key|pubkey)-[0-9a-f]{32})\b", "key-"),
    _rule("mailchimp-key", r"\b([0-9a-f]{32}-us\d{1,2})\b", "-us"),
    _rule("dingtalk-webhook", r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9a-f]{40,})", "oapi.dingtalk.com"),
    _rule("feishu-webhook", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([\w-]{20,})", "/bot/v2/hook/"),
    _rule("wecom-webhook", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([\w-]{20,})", "qyapi.weixin"),
    _rule("wechat-app-secret", r"(?i)app_?secret[\"']?[\s:=：是为]{1,5}[\"']?([0-9a-f]{32})\b", "appsecret app_secret"),
    # Models
    _rule("openai-key", r"\b(sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})", "sk-"),
    _rule("anthropic-key", r"\b(sk-ant-[a-z]{3,5}\d\d-[\w-]{20,})", "sk-ant-"),
    _rule("openrouter-key", r"\b(sk-or-v1-[0-9a-f]{40,})", "sk-or-"),
    _rule("model-key", r"\b(sk-[A-Za-z0-9]{32,64})\b", "sk-", _has_digit),
    _rule("huggingface-token", r"\b(hf_[A-Za-z0-9]{30,})\b|\b(api_org_[A-Za-z0-9]{30,})\b", "hf_ api_org_"),
    _rule("groq-key", r"\b(gsk_[A-Za-z0-9]{40,})", "gsk_"),
    _rule("xai-key", r"\b(xai-[A-Za-z0-9]{60,})", "xai-"),
    _rule("perplexity-key", r"\b(pplx-[A-Za-z0-9]{40,})", "pplx-"),
    _rule("replicate-token", r"\b(r8_[A-Za-z0-9]{37})", "r8_"),
    _rule("nvidia-key", r"\b(nvapi-[\w-]{40,})", "nvapi-"),
    _rule("tavily-key", r"\b(tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,})", "tvly-"),
    _rule("langsmith-key", r"\b(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})", "lsv2_"),
    _rule("zhipu-key", r"\b([0-9a-f]{32}\.[A-Za-z0-9]{16})\b", _DIGITS, _has_digit),
    # Shops, notes and design
    _rule("stripe-key", r"\b((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,})", "_live_ _test_ _prod_"),
    _rule("stripe-webhook-secret", r"\b(whsec_[A-Za-z0-9+/=]{24,})", "whsec_"),
    _rule("shopify-token", r"\b(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})", "shpat_ shpca_ shppa_ shpss_"),
    _rule("square-token", r"\b(sq0[a-z]{3}-[\w-]{22,})", "sq0"),
    _rule("linear-key", r"\b(lin_(?:api|oauth)_[A-Za-z0-9]{32,})", "lin_"),
    _rule("notion-token", r"\b((?:secret|ntn)_[A-Za-z0-9]{40,})", "secret_ ntn_"),
    _rule("figma-token", r"\b(fig[dou]r?_[\w-]{40,})", "fig"),
    _rule("airtable-token", r"\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})", "pat"),
    _rule("dropbox-token", r"\b(sl\.[\w-]{100,})", "sl."),
    _rule("facebook-token", r"\b(EAA[A-Za-z0-9]{80,})", "eaa"),
    # Forms that no single vendor owns
    _rule("private-key", r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,.\s\\-]{0,80}?)[A-Za-z0-9+/=\s\\]{40,}(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)?", "private key", _is_any),
    _rule("age-secret-key", r"\b(AGE-SECRET-KEY-1[0-9A-Z]{58})", "age-secret-key"),
    _rule("jwt", r"\b(eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})", "eyj"),
    _rule("bearer-token", r"(?i)\bbearer\s+[\"']?([\w.~+/=-]{16,})", "bearer", _has_digit),
    _rule("basic-authorization", r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?basic\s+([A-Za-z0-9+/=]{8,})", "basic"),
    _rule("cookie", r"(?i)\b(?:set-)?cookie:\s*([\w.-]+=[^\s;,\"']{12,}(?:;\s*[\w.-]+=[^\s;,\"']+)*)", "cookie:", _has_digit),
    _rule("url-credentials", r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,80}:([^\s/@\"'<>]{2,200})@", "://", _is_credential),
    _rule("netrc-password", r"(?i)\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(\S+)", "machine", _is_password),
    _rule("command-line-password", r"\bcurl\b.{0,200}?\s(?:-u|--user)\s+[\"']?[^\s:\"']{1,80}:([^\s\"']{3,})|\bmysql\b.{0,200}?\s-p([^\s\"'-]{4,})|\bsshpass\s+-p\s+[\"']?([^\s\"']+)|\bdocker\b.{0,60}?\slogin\b.{0,200}?\s-p\s+[\"']?([^\s\"']+)", "curl mysql sshpass docker", _is_credential),
    _rule("secret-assignment", rf"(?i)\b{_LABEL}{_SET}`?([^\s\"'`<>,;，。；（）()⟦⟧]{{8,}})", "secret token api access key credential", _is_value),
    _rule("password-assignment", rf"(?i)\b{_PHRASE}{_SET}`?([^\s\"'`<>,;，。；（）⟦⟧]{{4,}})", "pass pwd", _is_password),
    _rule("password-assignment", r"\bpass\s?[:=]\s?[\"'`]?([^\s\"'`<>,;⟦⟧]{5,})", "pass", _is_strong),
    _rule("bare-password", r"(?i)\b(?:password|passwd|pwd)\s+[\"'`]?([^\s\"'`<>,;⟦⟧]{6,})", "passw pwd", _is_strong),
    _rule("spoken-password", r"(?i)\b(?:password|passphrase|passcode)(?:\s(?:for|to|of|on)\s[^\n]{1,60}?)?\s(?:is|was|to|becomes)(?: now)?:?\s+[\"'`“]?([^\s\"'`<>“”⟦⟧]{4,})", "password passphrase passcode", _is_password),
    _rule("pin", r"(?i)\bpin(?: code| number)?(?: (?:for|of|on) [^\n\d]{1,40}?)?(?: is(?: now)?|:)\s{0,2}(\d{4,8})\b", "pin", _is_any),
    _rule("spoken-token", r"(?i)\b(?:api[ -]?key|token|secret(?: key)?|access key)\sis(?: now)?:?\s+[\"'`“]?([^\s\"'`<>“”⟦⟧]{12,})", "key token secret", _has_digit),
    _rule("password-zh", rf"{_ZH_PHRASE}{_ZH_IS}([!-~]{{4,}})", "密码 口令 密钥 秘钥 令牌 凭证 私钥 暗号 开机码 解锁码", _is_password),
    _rule("password-zh", rf"{_ZH_PHRASE}\s{{0,2}}([!-~]{{6,}})", "密码 口令", _has_digit),
    _rule("verification-code-zh", r"(?:验证码|校验码|动态码|取件码|提取码|激活码|邀请码)(?:是|为|就是|发你了|给你|[\s：:【\[“]){0,4}([0-9A-Za-z]{4,8})(?:[^0-9A-Za-z-]|$)", "验证码 校验码 动态码 取件码 提取码 激活码 邀请码", _holds_digit),
    _rule("verification-code", r"(?i)\b(?:verification|security|one-time|otp|2fa|login|confirmation|authentication) (?:code|password|passcode)(?: is|:| -)?\s+(\d{4,8}|\d{3}[ -]\d{3})\b", "code password passcode", _is_any),
    # People
    _rule("email", r"(?i)\b([a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,18})\b", "@", _is_address),
    _rule("cn-mobile", r"(?:\b|\+?86[ -]?)(1[3-9]\d[ -]?\d{4}[ -]?\d{4})\b", _DIGITS, _stands_alone, 11),
    _rule("cn-id-card", r"\b([1-9]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx])\b", _DIGITS, _is_id_card, 17),
    _rule("bank-card", r"\b(\d(?:[ -]?\d){12,18})\b", _DIGITS, _is_luhn, 13),
    _rule("passport", r"(?i)(?:护照号?码?|通行证号?码?|passport(?: no\.?| number| num)?)[\s:：#是为]{1,6}(?:is )?([A-Z]{1,2}\d{7,8}|\d{9})\b", "护照 通行证 passport", _is_any),
    _rule("iban", r"\b([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b", _DIGITS, _is_iban),
    _rule("us-ssn", r"(?i)(?:\bssn\b|social security)[^\d\n]{0,30}(\d{3}[- ]?\d{2}[- ]?\d{4})\b", "ssn social", _is_any),
    _rule("phone", r"(\+[1-9][\d ().-]{7,18}\d)\b", "+", _is_phone),
    _rule("phone", r"(?i)(?:\b(?:(?:tele)?phone|mobile|cell|tel|call me (?:at|on)|contact number)\b(?: (?:number|no\.?|is|at|on)){0,2}|(?:电话|手机|座机|联系方式)(?:号码?|是|为){0,2})[\s:：#(（]{0,4}(\d{3,4}[)）]?[ .-]?\d{3,4}[ .-]?\d{3,4})\b", "phone mobile cell tel call contact 电话 手机 座机 联系", _is_local_phone),
)
"""Every bundled rule; two rules may share a name."""
# fmt: on


@cache
def _compiled(pattern: str) -> re2._Regexp:
    try:
        import re2
    except ImportError as error:
        raise PluginError(
            "Secrets cannot be masked: google-re2 is missing. Run 'pip install google-re2'."
        ) from error
    try:
        return re2.compile(pattern)
    except re2.error as error:
        raise PluginError(f"{pattern!r} is not an RE2 pattern: {error}. Correct it.") from error


def _by_key(rules: tuple[Rule, ...]) -> dict[str, list[int]]:
    """Return the places of rules by their keys: most texts hold none, and many rules share one.

    A rule without keys is found under the empty one, which every text holds.
    """
    found: dict[str, list[int]] = {}
    for place, rule in enumerate(rules):
        for key in rule.keys or ("",):
            found.setdefault(key, []).append(place)
    return found


class Privacy:
    """The plugin with its rules chosen."""

    def __init__(self, rules: tuple[Rule, ...] = RULES) -> None:
        self.rules, self._places = rules, _by_key(rules)

    @hookimpl
    def screen_text(self, text: str) -> list[Span]:
        """Return what is secret or private in a text; spans may overlap."""
        # Half a surrogate pair cannot be UTF-8, which RE2 reads; a question mark is as long.
        text = text.encode("utf-8", "replace").decode("utf-8")
        lowered = text.lower()
        due = {place for key, places in self._places.items() if key in lowered for place in places}
        digits = sum(map(text.count, "0123456789"))
        rules = [rule for place in sorted(due) if (rule := self.rules[place]).digits <= digits]
        return [span for rule in rules for span in _found(rule, text)]


def create(settings: Mapping[str, Any]) -> Privacy:
    """Make the plugin, without the allowed rules and with the user's own.

    Raises:
        PluginError: a setting names no rule, or a pattern is not one.
    """
    allowed, extra = settings.get("allow", []), settings.get("extra", {})
    if not isinstance(allowed, list) or not isinstance(extra, dict):
        raise PluginError("[plugins.privacy] takes allow = [names] and a table extra. Correct it.")
    unknown = [str(name) for name in allowed if name not in {rule.name for rule in RULES}]
    if unknown:
        raise PluginError(f"No privacy rule is called {unknown[0]!r}. Correct allow.")
    kept = [rule for rule in RULES if rule.name not in allowed]
    return Privacy((*kept, *(_extra(name, pattern) for name, pattern in extra.items())))


def _extra(name: str, pattern: object) -> Rule:
    if not _KEBAB.fullmatch(name) or not isinstance(pattern, str):
        raise PluginError(f"Privacy rule {name!r} needs a kebab-case name and a pattern as text.")
    _compiled(pattern)
    return Rule(name, pattern, check=_is_any)


def _found(rule: Rule, text: str) -> list[Span]:
    spans = []
    for match in _compiled(rule.pattern).finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        if end > start and rule.check(text, start, end):
            spans.append(Span(start, end, rule.name))
    return spans
