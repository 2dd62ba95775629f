"""What secrets look like: a table of patterns for RE2, with what each holds and a check.

They are written from the token formats that vendors publish and from how people tell each
other passwords, in Chinese and in English.
"""

# ruff: noqa: E501  the table of rules is read as a table, one rule a line

from __future__ import annotations

from kimi_memory.nlp.rules.announced import (
    CODE_WORDS,
    COOKIE_WORDS,
    KEY_WORDS,
    LOCK_WORDS,
    LOGIN_WORDS,
    TABLE_HEAD,
    find_cells,
    find_cookies,
    find_lock_numbers,
    find_numbers,
    find_passwords,
    find_tokens,
)
from kimi_memory.nlp.rules.announced_values import find_announced_values
from kimi_memory.nlp.rules.credentials import (
    is_any,
    is_code,
    is_code_of_letters,
    is_credential,
    is_drawn,
    is_drawn_alone,
    is_drawn_path,
    is_drawn_token,
    is_joined_password,
    is_odd,
    is_pair_password,
    is_password,
    is_password_with_digit,
    is_phrase,
    is_plain_password,
    is_random,
    is_real,
    is_real_with_digit,
    is_spoken_zh,
    is_strong,
    is_token,
    is_told,
    is_told_in_url,
    is_told_zh,
    is_value,
)
from kimi_memory.nlp.rules.private_numbers import is_account, is_lock_number
from kimi_memory.nlp.rules.private_rules import PRIVATE_RULES
from kimi_memory.nlp.rules.secret_rule import Rule, make_rule, make_scan
from kimi_memory.nlp.rules.secret_words import LOGINS, NUMBERED, OFTEN, has_digit, keys_of, words_of

# DB_TOKEN, client-secret, "api key", SESSION_KEY_BASE: what a value is assigned to
_LABEL = (
    r"(?:[a-z0-9]+[_.-])*(?:secret|token|credentials?|(?:access|secret)[_ -]?key[_ -]?secret|secret[_ -]?access[_ -]?key"
    r"|(?:api|access|auth|secret|private|signing|encryption|master|app|session|webhook|shared|aes|hmac)[_ -]?key"
    r"|(?:client|app|api|access|webhook|shared)[_ -]?secret|(?:access|auth|bot|session|refresh)[_ -]token)"
    r"(?:[_-]?(?:base|value|string|hex|b64|base64|prod|dev|test|staging|live|v?\d))?"
)
# db_password, pwd, admin-pass; a bare "pass" is too common a word
_PHRASE = (
    r"(?:[a-z0-9_.-]*(?:password|passw?rd|passwd|psswd|pass ?phrase|pass ?code|pwd|psk|pre-?shared[ _-]?key)|\bpw|(?:[a-z0-9]+[_-])+pass"
    r"|\b(?:sudo|root|admin|wi-?fi|database|ssh|vpn|ftp) pass)"
)
_PHRASE_KEYS = (
    "passw passrd passp pass␣p passc pass␣c pwd psk pw psswd shared _pass -pass sudo␣pass root␣pass admin␣pass"
    " fi␣pass database␣pass ssh␣pass vpn␣pass ftp␣pass"
)
_IN_BRACKETS = r"(?:\s?[(（][^()（）\n]{1,40}[)）])?"
_SET = rf"{_IN_BRACKETS}[\"'*]{{0,2}}\s{{0,4}}(?::=|=>|→|[:=：]|是|为|填|(?:换|改|设)(?:成|为))\*{{0,2}}\s{{0,4}}(?:[bru]{{1,2}}[\"']|[\"'*]{{0,2}})"
_SIGN = r"[!#$%&*+./:=?@^_{|}~\[\]\\A-Za-zÀ-ÖØ-öø-ÿ0-9-]"
"""What values are written with; words of Chinese after a label are no value."""
_VALUE = rf"`?({_SIGN}{{8,}})"
_ZH_PHRASE = r"(?:密码|口令|密钥|秘钥|令牌|凭证|私钥|暗号|密语|开机码|解锁码)"
# 密码改成了…, 密码已经被重置为…
_ZH_MADE = (
    r"(?:已经?|被|现在|暂时|先)?(?:改|设|换|变|重置|更新|修改|设置|调整|配置|定)(?:成|为|到)了?"
)
_ZH_IS = rf"{_IN_BRACKETS}[\"”」》*]{{0,2}}\s{{0,3}}(?:{_ZH_MADE}|是|为|：|:|=|就是|还是|叫|填|输入?)\*{{0,2}}[\s：:“\"「]{{0,4}}"
_CODE_OF = r"(?:verification|security|one[- ]time|otp|2fa|(?:two|multi)[- ]factor|login|log[- ]in|sign[- ]in|confirmation|authentication|access)"
_ABOUT = rf"{_IN_BRACKETS}(?:\s(?:for|to|of|on|at|in)\s[^\n:：=]{{1,60}}?)?"
"""Of what a password is: "password for the router: …"."""
_ARROW = r"\s{0,3}(?:[:：]|[-=]>|[→—–]|\s-\s)"
_OWNED = r"(?:my|the|our|your|his|her|their|its)"
_EN_MADE = r"(?:(?:(?:has been|was|is|got|gets) )?(?:changed|set|reset|updated|rotated) (?:to|as)|is|was|to|becomes|=|:)"
_QUOTE = r"[\"'`“]?"

_NUMBER = r"(\d{1,6}(?:[ -]\d{1,6}){1,11}|\d{3,12})"
"""As people tell the number of a lock or a code: 4711, 4 7 1 1, 24-08-31."""
_LOCK = r"(?:unlock sequence|key ?pad|lock|padlock|safe|vault|garage|gate|barrier|alarm|intercom|buzzer|door|elevator|bike|suitcase|luggage|voicemail|lock ?box|locker)"
_LEFT = r"(?:left|right|左|右)(?:转到?|边| to)?\s?\d{1,3}"
_THEN = r"[\s,，、]{0,2}(?:再|then|and|然后)?\s{0,2}"


def _followed_by_hex(start: str) -> str:
    """Return the keys of a token that goes on with hexadecimal digits."""
    return " ".join(f"{start}{sign}" for sign in "0123456789abcdef")


# fmt: off
RULES: tuple[Rule, ...] = (
    # Clouds
    make_rule("aws-access-token", r"\b((?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z2-7]{16})\b", "akia asia abia acca a3t"),
    make_rule("aws-secret-key", r"(?i)(?:secret_?access_?key|aws_?secret_?key|aws.{0,20}secret.{0,20}?)[\"']?[\s:=：是为]{1,6}[\"']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)", "secret"),
    make_rule("aws-secret-key", r"\b(?:AKIA|ASIA|LTAI|AKID)[A-Za-z0-9]{12,40}[\"',;:/|\s]{1,6}(?:[a-zA-Z_]{1,20}[=:]\s?)?[\"']?([A-Za-z0-9/+]{24,48})\b", "akia asia ltai akid", is_real_with_digit),
    make_rule("aws-session-token", r"(?i)session_?token[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+=]{100,})", "session_token sessiontoken"),
    make_rule("aws-mws-token", r"amzn\.mws\.[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", "amzn.mws"),
    make_rule("gcp-api-key", r"\b(AIza[\w-]{35})", "aiza"),
    make_rule("gcp-oauth-token", r"\b(ya29\.[\w-]{20,})", "ya29."),
    make_rule("gcp-client-secret", r"\b(GOCSPX-[\w-]{24,})", "gocspx-"),
    make_rule("gcp-refresh-token", r"\b(1//0[\w-]{40,})", "1//0"),
    make_rule("azure-storage-key", r"(?i)accountkey=([A-Za-z0-9+/]{40,}={0,2})", "accountkey="),
    make_rule("azure-shared-key", r"(?i)sharedaccesskey=([A-Za-z0-9+/]{43}=)", "sharedaccesskey="),
    make_rule("azure-sas-signature", r"(?:[?&]|\b)sig=([A-Za-z0-9%/+=]{20,})", "sig="),
    make_rule("signed-url", r"(?i)[?&][\w-]{0,20}(?:signature|_sig|-sig)=([a-z0-9%/+=_-]{20,})", "signature= _sig= -sig="),
    make_rule("azure-client-secret", r"([\w~.-]{3}\dQ~[\w~.-]{31,34})", "q~"),
    make_rule("azure-devops-token", r"\b(\w{76}AZDO\w{4})\b", "azdo"),
    make_rule("alibaba-access-key", r"\b(LTAI[A-Za-z0-9]{12,24})\b", "ltai"),
    make_rule("tencent-secret-id", r"\b(AKID[A-Za-z0-9]{32})\b", "akid"),
    make_rule("baidu-api-key", r"\b(bce-v3/ALTAK-[A-Za-z0-9]{21}/[0-9a-f]{40})", "bce-v3"),
    make_rule("baidu-access-key", r"\b(ALTAK-[A-Za-z0-9]{21})\b", "altak-"),
    make_rule("volcengine-access-key", r"\b(AKLT[A-Za-z0-9_-]{40,})", "aklt"),
    make_rule("digitalocean-token", r"\b(do[opr]_v1_[0-9a-f]{64})\b", "_v1_"),
    make_rule("cloudflare-token", r"(?i)cloudflare.{0,40}?[\s:=\"'：是]([\w-]{40})(?:[^\w-]|$)", "cloudflare", is_real_with_digit),
    make_rule("cloudflare-origin-key", r"\b(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})", "v1.0-"),
    make_rule("heroku-key", r"\b(HRKU-[\w-]{36,})|(?i)heroku.{0,40}?[\s:=\"'：是]([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})", "heroku hrku-"),
    make_rule("planetscale-token", r"\b(pscale_(?:tkn|pw|oauth)_[\w.=-]{32,})", "pscale_"),
    make_rule("supabase-token", r"\b(sb[ps]_(?:secret_)?[\w]{30,})", "sbp_ sbs_"),
    # Code hosts and package registries
    make_rule("github-token", r"\b(ghp_[A-Za-z0-9]{36})", "ghp_"),
    make_rule("github-oauth-token", r"\b(gho_[A-Za-z0-9]{36})", "gho_"),
    make_rule("github-app-token", r"\b(gh[us]_[A-Za-z0-9]{36})", "ghu_ ghs_"),
    make_rule("github-refresh-token", r"\b(ghr_[A-Za-z0-9]{36,76})", "ghr_"),
    make_rule("github-fine-grained-token", r"\b(github_pat_\w{40,})", "github_pat_"),
    make_rule("gitlab-token", r"\b(gl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|oas|agent|rtr)-[\w-]{20,})", "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- gloas- glagent- glrtr-"),
    make_rule("gitlab-runner-token", r"\b(GR1348941[\w-]{20,})", "gr1348941"),
    make_rule("gitee-token", r"(?i)gitee.{0,40}?[\s:=\"'：是]([0-9a-f]{32})\b", "gitee"),
    make_rule("npm-token", r"\b(npm_[A-Za-z0-9]{36})", "npm_"),
    make_rule("pypi-token", r"\b(pypi-A[\w-]{50,})", "pypi-a"),
    make_rule("rubygems-token", r"\b(rubygems_[0-9a-f]{48})", "rubygems_"),
    make_rule("crates-token", r"\b(cio[A-Za-z0-9]{32})\b", "cio", is_real_with_digit),
    make_rule("docker-token", r"\b(dckr_(?:pat|oat)_[\w-]{27,})", "dckr_"),
    make_rule("postman-key", r"\b(PMAK-[0-9a-f]{24}-[0-9a-f]{34})", "pmak-"),
    make_rule("atlassian-token", r"\b(ATATT3[\w=-]{60,})", "atatt3"),
    make_rule("sentry-token", r"\b(sntry[su]_[\w+/=-]{40,})", "sntrys_ sntryu_"),
    make_rule("newrelic-key", r"\b(NRAK-[A-Z0-9]{27})", "nrak-"),
    make_rule("grafana-token", r"\b(gl(?:sa|c)_[A-Za-z0-9+/=_]{32,})", "glsa_ glc_"),
    make_rule("vault-token", r"\b(hv[sbr]\.[\w-]{24,})", "hvs. hvb. hvr."),
    make_rule("terraform-token", r"\b([A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,})", ".atlasv1."),
    make_rule("databricks-token", r"\b(dapi[0-9a-f]{32})(?:-\d)?\b", "dapi"),
    make_rule("doppler-token", r"\b(dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,})", "dp."),
    # Chat and mail
    make_rule("slack-token", r"\b(xox[abeprs](?:\.xox[bp])?-[\w-]{10,})", "xoxa- xoxb- xoxe xoxp- xoxr- xoxs-", is_real_with_digit),
    make_rule("slack-app-token", r"\b(xapp-\d-[\w-]{20,})", "xapp-"),
    make_rule("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+]{30,})", "hooks.slack.com"),
    make_rule("telegram-bot-token", r"\b(?:bot)?(\d{8,10}:AA[\w-]{33})", ":aa"),
    make_rule("discord-token", r"\b([MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38})", ".", is_real_with_digit, 1),
    make_rule("discord-webhook", r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[\w-]{40,})", "api/webhooks"),
    make_rule("twilio-key", r"\b(SK[0-9a-f]{32})\b", _followed_by_hex("sk")),
    make_rule("twilio-auth-token", r"(?i)twilio.{0,40}?[\s:=\"'：是]([0-9a-f]{32})\b", "twilio"),
    make_rule("sendgrid-key", r"\b(SG\.[\w-]{16,32}\.[\w-]{30,64})", "sg."),
    make_rule("mailgun-key", r"\b((?:key|pubkey)-[0-9a-f]{32})\b", "key-"),
    make_rule("mailchimp-key", r"\b([0-9a-f]{32}-us\d{1,2})\b", "-us"),
    make_rule("dingtalk-webhook", r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9a-f]{40,})", "oapi.dingtalk.com"),
    make_rule("feishu-webhook", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([\w-]{20,})", "/bot/v2/hook/"),
    make_rule("wecom-webhook", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([\w-]{20,})", "qyapi.weixin"),
    make_rule("wechat-app-secret", r"(?i)app_?secret[\"']?[\s:=：是为]{1,5}[\"']?([0-9a-f]{32})\b", "appsecret app_secret"),
    # Models
    make_rule("openai-key", r"\b(sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})", "sk-"),
    make_rule("anthropic-key", r"\b(sk-ant-[a-z]{3,5}\d\d-[\w-]{20,})", "sk-ant-"),
    make_rule("openrouter-key", r"\b(sk-or-v1-[0-9a-f]{40,})", "sk-or-"),
    make_rule("model-key", r"\b(sk-[A-Za-z0-9_-]{20,})", "sk-", is_random, 1),
    make_rule("huggingface-token", r"\b(hf_[A-Za-z0-9]{30,})\b|\b(api_org_[A-Za-z0-9]{30,})\b", "hf_ api_org_"),
    make_rule("groq-key", r"\b(gsk_[A-Za-z0-9]{40,})", "gsk_"),
    make_rule("xai-key", r"\b(xai-[A-Za-z0-9]{60,})", "xai-"),
    make_rule("perplexity-key", r"\b(pplx-[A-Za-z0-9]{40,})", "pplx-"),
    make_rule("replicate-token", r"\b(r8_[A-Za-z0-9]{37})", "r8_"),
    make_rule("nvidia-key", r"\b(nvapi-[\w-]{40,})", "nvapi-"),
    make_rule("tavily-key", r"\b(tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,})", "tvly-"),
    make_rule("langsmith-key", r"\b(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})", "lsv2_"),
    make_rule("zhipu-key", r"\b([0-9a-f]{32}\.[A-Za-z0-9]{16})\b", ".", is_real_with_digit, 1),
    # Shops, notes and design
    make_rule("stripe-key", r"\b((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,})", "_live_ _test_ _prod_"),
    make_rule("stripe-webhook-secret", r"\b(whsec_[A-Za-z0-9+/=]{24,})", "whsec_"),
    make_rule("shopify-token", r"\b(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})", "shpat_ shpca_ shppa_ shpss_"),
    make_rule("square-token", r"\b(sq0[a-z]{3}-[\w-]{22,})", "sq0"),
    make_rule("linear-key", r"\b(lin_(?:api|oauth)_[A-Za-z0-9]{32,})", "lin_"),
    make_rule("notion-token", r"\b((?:secret|ntn)_[A-Za-z0-9]{40,})", "secret_ ntn_"),
    make_rule("figma-token", r"\b(fig[dou]r?_[\w-]{40,})", "fig"),
    make_rule("airtable-token", r"\b(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})", "pat"),
    make_rule("dropbox-token", r"\b(sl\.[\w-]{100,})", "sl."),
    make_rule("facebook-token", r"\b(EAA[A-Za-z0-9]{80,})", "eaa"),
    # Forms that no single vendor owns
    make_rule("private-key", r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,.\s\\>#|*-]{0,80}?)[A-Za-z0-9+/=\s\\>#|*]{40,}(?:-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----)?", "private␣key", is_any),
    make_rule("private-key", r"((?:[A-Za-z0-9+/=]{16,}\s{1,3})+)-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY", "private␣key", is_any),
    make_rule("private-key", r"(?i)\bPrivate-Lines:\s?\d{1,3}\s{1,2}([A-Za-z0-9+/=]{16,}(?:\s{1,2}[A-Za-z0-9+/=]{16,})*)", "private-lines", is_any),
    make_rule("age-secret-key", r"\b(AGE-SECRET-KEY-1[0-9A-Z]{58})", "age-secret-key"),
    make_rule("jwt", r"\b(eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})", "eyj"),
    make_rule("bearer-token", r"(?i)\bbearer\s+[\"']?([\w.~+/=-]{16,})", "bearer", is_real_with_digit),
    make_rule("basic-authorization", r"(?i)\bauthorization[\"']?\s*[:=]\s*[\"']?basic\s+([A-Za-z0-9+/=]{8,})", "basic"),
    make_rule("authorization", r"(?i)\bauthorization[\"']?\s{0,4}[:=：]\s{0,4}[\"']?(?:[a-z][\w-]{1,20}\s{1,4})?[\"']?([\w.~+/=-]{16,})", "authorization", is_real_with_digit, 1),
    make_rule("url-credentials", r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,80}:([^\s/\"'<>]{2,200})@", "://", is_credential),
    make_rule("netrc-password", r"(?i)\bmachine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(\S+)", "machine", is_password),
    make_rule("command-line-password", r"\bcurl\b.{0,200}?\s(?:-u|--user)\s+[\"']?[^\s:\"']{1,80}:([^\s\"']{3,})|\bmysql(?:dump|admin)?\b.{0,200}?\s-p[\"']?([^\s\"'-][^\s\"']{3,})|\bsshpass\s+-p\s*[\"']?([^\s\"']+)|\bdocker\b.{0,60}?\slogin\b.{0,200}?\s-p\s+[\"']?([^\s\"']+)", "curl mysql sshpass docker", is_credential),
    make_rule("command-line-password", r"\bredis-cli\b[^\n]{0,}?\s-a\s{1,3}[\"']?([^\s\"']{3,})", "redis-cli", is_credential),
    make_rule("command-line-password", r"(?i)\s--?(?:password|passwd|pass|token|api-?key|secret|auth-token|access-token|secret-key)[= ][\"']?([^\s\"'`<>]{6,})", "--pass --token --api --secret --auth --access -pass -token", is_strong),
    make_rule("command-line-password", r"(?i)\bConvertTo-SecureString\s{1,3}(?:-String\s{1,3})?[\"']([^\"'\n]{4,})[\"']", "convertto-securestring", is_credential),
    make_rule("password-hash", r"(\$(?:apr1|2[abxy]|[156y])\$[./A-Za-z0-9$=,]{20,})", "$apr1$ $1$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $y$", is_any),
    make_rule("client-key", r"(?i)\bclient-key-data[\"']?\s?[:=]\s{0,4}[\"']?([a-z0-9+/=]{40,})", "client-key-data", is_any),
    make_rule("secret-assignment", rf"(?i)\b{_LABEL}{_SET}{_VALUE}", "secret token key credential", is_value),
    make_rule("secret-assignment", r"(?i)\bapp_key\s?=\s?(?:base64:)?([A-Za-z0-9+/=]{24,100})", "app_key", is_real_with_digit),
    make_rule("sql-password", r"(?i)\bidentified\s{1,3}(?:with\s{1,3}\S{1,60}\s{1,3})?(?:by|as)\s{1,3}(?:password\s{1,3})?[\"'`]([^\"'`\n]{3,})[\"'`]", "identified", is_credential),
    make_rule("sql-password", r"(?i)\b(?:set\s{1,3})?password(?:\s{1,3}|(?:\s{1,3}for\s{1,3}\S{1,80})?\s{0,3}=\s{0,3})(?:password\()?[\"']([^\"'\n]{4,})[\"']", "password", is_password),
    make_rule("xml-password", r"(?i)<(?:[\w.-]+:)?[\w.-]*(?:password|passwd|pwd|secret|token|apikey|api-key|passphrase)>\s{0,20}([^<>\s]{3,})\s{0,20}</", "password passwd pwd secret token apikey api-key passphrase", is_password),
    make_rule("xml-password", r"(?i)\b(?:name|key|id)\s?=\s?[\"'][\w.:-]*(?:password|passwd|pwd|secret|token|api[_-]?key|pass)[\"'][^<>]{0,80}?(?:\bvalue\s?=\s?[\"']([^\"'<>\s]{4,})[\"']|>\s{0,20}([^<>\s]{4,})\s{0,20}</)", "word\" word' wd\" wd' secret\" secret' token\" token' key\" key' pass\" pass'", is_password),
    make_rule("wallet-key", r"(?i)(?:private[ _-]?key|wallet key|私钥)[^\n]{0,20}?(?:0x)?\b(?:0x)?([0-9a-f]{64})\b", "private wallet 私钥", is_real_with_digit, 1),
    make_rule("password-assignment", rf"(?i)\b{_PHRASE}{_SET}`?((?:{_SIGN}|[()]){{4,}})", _PHRASE_KEYS, is_password),
    make_rule("password-assignment", r"\bpass\s?[:=]\s?[\"'`]?([^\s\"'`<>,;⟦⟧]{5,})", "pass", is_strong),
    make_rule("bare-password", rf"(?i)\b(?:password|passwd|pwd|pw|passcode)[,:]?[ \t]{{1,4}}{_QUOTE}({_SIGN}{{6,}})", "passw passc pwd pw", is_strong, 1),
    make_rule("bare-key", rf"(?i)\b(?:(?:api|access|wlan|wi-?fi|network)[ _-]?key|(?:api|access|auth|client|bot|shared|t?otp|2fa) (?:token|secret|seed))(?:\s?[:=])?\s{{1,4}}{_QUOTE}({_SIGN}{{8,}})", "key token secret seed", is_random, 1),
    make_rule("bare-key", rf"(?i)\b(?:t?otp|2fa|mfa|authenticator)\s(?:secret|seed|key)(?:\sis|\s?[:=])?\s{{1,4}}{_QUOTE}(?-i:([A-Z2-7]{{16,64}}))\b", "otp 2fa mfa authenticator", is_real),
    make_rule("bare-password", rf"(?i)\b(?:user(?:name)?|login|account)\b[^\n]{{0,60}}?\b(?:pass|key)[,:]?\s{{1,4}}{_QUOTE}({_SIGN}{{6,}})", "pass key", is_strong, 1),
    make_rule("spoken-password", rf"(?i)\b[\w-]*(?:password|passphrase|passcode)(?:\s(?:for|to|of|on|at|in)\s[^\n]{{1,60}}?)?\s{_EN_MADE}(?: now)?:?\s{{1,4}}{_QUOTE}((?:{_SIGN}|[(),;]){{3,}}{_SIGN})", "password passphrase passcode", is_password),
    make_rule("spoken-password", rf"(?i)\b(?:(?:pass|pw|pwd|passwd|login)\s?[:=]|(?:pass|pw|pwd|passwd|login|key)(?:\s(?:for|to|of|on)\s[^\n]{{1,60}}?)?\s{_EN_MADE}(?: now)?:?)\s{{0,4}}{_QUOTE}((?:{_SIGN}|[(),;]){{5,}}{_SIGN})", "pass pw login key", is_strong, 1),
    make_rule("spoken-password", rf"(?i)(?:\b(?:use|enter|type|try|take|with|and)\s|[,:]\s){_QUOTE}({_SIGN}{{4,}}?)[\"'`”]?\s(?:as|for)\s(?:the|my|your|our|a|its)?\s?(?:[\w-]{{1,20}}\s){{0,2}}(?:password|passphrase|passcode|pass|pwd|pw)\b", "passw passp passc pass pw", is_pair_password, 1),
    make_rule("spoken-password", rf"(?i)\b{_PHRASE}{_ABOUT}(?:{_ARROW}|(?:, it)?['’]s\s)\s{{0,4}}{_QUOTE}((?:{_SIGN}|[(),;]){{3,}}{_SIGN})", _PHRASE_KEYS, is_password, 1),
    make_rule("spoken-password", rf"(?i)\b{_PHRASE}{_ABOUT}{_ARROW}\s{{1,4}}{_QUOTE}([a-z]{{4,30}})", "pass pwd pw psswd psk", is_plain_password),
    make_rule("spoken-password", rf"(?i)\b(?:password|passwd|passphrase|pass ?code|pwd)(?:(?:\s(?:for|to|of|on)\s[^\n]{{1,40}}?)?\sis|['’]s)(?: now| still)?\s{_QUOTE}([a-z]{{5,30}})", "passw passp passc pass␣c pwd", is_plain_password),
    make_rule("spoken-password", rf"(?i)\b(?:password|passphrase|passcode|pwd|pw)\b[^\n]{{0,40}}?\bfrom\s{_QUOTE}({_SIGN}{{5,}})", "passw passp passc pwd pw", is_strong, 1),
    make_rule("spoken-password", rf"(?i)\b(?:password|passphrase|passcode|pwd|pw)\b[^\n]{{0,40}}?\b(?:changed|reset|updated|rotated|switched)\b[^\n]{{0,60}}?\bto\s{_QUOTE}({_SIGN}{{5,}})", "passw passp passc pwd pw", is_strong, 1),
    make_rule("spoken-password", rf"(?i)({_SIGN}{{5,}}{_SIGN})[\"'`”]?[,;]?\s{{1,3}}(?:is|was|that['’]?s|that is|this is)\s{_OWNED}\s(?:[\w-]{{1,20}}\s){{0,3}}?(?:password|passphrase|passcode|pwd|pw)\b", "passw passp passc pwd pw", is_strong, 1),
    make_rule("login-pair", rf"(?i)\b[\w.@+-]{{1,60}}(?:\s/\s|/|:)([^\s\"'`<>⟦⟧]{{6,}})\s(?:is|are)\s(?:{_OWNED}\s)?(?:[\w-]{{1,20}}\s){{0,2}}?(?:credentials|creds|login)\b", "cred login", is_strong, 1),
    make_rule("login-pair", r"(?i)\b(?:basic auth(?:entication)?|credentials?|creds|login|log ?in|account|wi-?fi|wlan|ssid|hotspot)\b[^\n]{0,60}?[\s\"'(][\w.@+-]{1,60}(?:\s/\s|/|:)([^\s\"'`<>⟦⟧]{6,})", "basic cred log account wifi wi-fi wlan ssid hotspot", is_strong, 1),
    make_rule("login-pair", r"(?i)\b(?:password|passwd|pwd|pw)\s(?:for|to|of|on|at)\s[^\n]{1,60}?[:=]\s{0,2}[\w.@+-]{1,60}\s/\s([^\s\"'`<>⟦⟧]{6,})", "passw pwd pw", is_strong),
    make_rule("login-pair", r"(?i)(?:[账帐]号|用户名?|管理员|登录|无线网?|热点)[^\n]{0,10}?(?:密码|口令)[是为\s:：]{1,4}[\w.@-]{1,60}\s?[/／|:：，,]\s?([!-~]{4,})", "密码 口令", is_password),
    make_rule("passphrase", rf"(?i)(?:pass(?:phrase|word|code){_ABOUT}(?:\s(?:is|was)\b|\s?=|{_ARROW})|口令(?:短语)?{_ZH_IS}|密码{_ZH_IS})\s{{0,3}}[\"'“「]?([a-z]{{3,12}}(?:[ -][a-z]{{3,12}}){{2,11}})", "passphrase password 口令 密码", is_phrase),
    make_rule("authenticator-seed", r"(?i)(?:authenticator|totp|2fa|setup key|otp|\bqr\b|seed|密钥)[^\n]{0,40}?[:：\s]\s{0,2}([a-z2-7]{4}(?: [a-z2-7]{4}){5,15}|(?-i:[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}))\b", "authenticator totp 2fa setup otp qr seed 密钥", is_odd),
    make_rule("seed-phrase", r"(?i)(?:(?:seed|recovery|secret|backup|wallet) (?:phrase|words)|\bseed|\b(?:12|24|twelve|twenty-four) words|mnemonic(?: phrase)?|(?:12|24|十二) ?个(?:单词|词)|助记词)(?:\s(?:for|to|of)\s[^\n]{1,40}?)?(?:\s(?:is|are)|是)?[^\n\w]{0,6}((?:[a-z]{3,9}[ ,;|]{1,2}){11,23}[a-z]{3,9})", "phrase words seed mnemonic 单词 个词 助记词", is_phrase),
    make_rule("seed-phrase", r"助记词(?:[^\n:：，。]{0,12}[:：])?[\s:：=“\"「]{0,6}(?:是|为)?[\s:：=“\"「]{0,3}((?:[\x{4e00}-\x{9fff}]{1,4}[ ,，、]{1,2}){11,23}[\x{4e00}-\x{9fff}]{1,4})", "助记词", is_any),
    make_rule("app-password", r"(?i)(?:(?:app|smtp|imap|mail|gmail)[ -]?(?:specific )?(?:password|passcode|pass|pw)|应用专用密码|授权码)[^\n]{0,20}?(?:\sis|[:：=]|是|为|\s)\s{0,3}[\"'“]?([a-z]{4}(?: [a-z]{4}){3})\b", "pass pw 应用专用密码 授权码", is_odd),
    make_rule("license-key", r"(?i)(?:licen[cs]e|(?:product|activation|registration)[ -](?:key|code)|serial key|激活码|注册码|产品密钥)[^\n]{0,20}?[\s:：=是为]{1,4}\b(?-i:([A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,6}))\b", "licen product serial activation registration 激活码 注册码 产品密钥", has_digit),
    make_rule("security-answer", r"(?i)(?:(?:security|secret) question[^\n]{0,60}?answer(?:\sis|\s?[:=])\s{0,3}[\"'“]|(?:密保|密码保护|安全|安保|提示|找回)(?:问题)?[^\n。]{0,20}?答案(?:我?填的?|[是为\s:：]){1,3}[\"“「]?)([^\s\"'”」。，,；;]{2,40})", "question 密保 密码保护 安全 安保 提示 找回", is_spoken_zh),
    make_rule("pin", r"(?i)\b(?:pin|(?:atm|bank|cash) code)(?: code| number)?(?: (?:for|of|on) [^\n\d]{1,40}?)?(?:['’]s| is(?: now)?|:)\s{0,2}(\d{4,8})\b", "pin", is_any, 4),
    make_rule("pin", r"(?i)(?:->|→|\b(?:with|my|enter|card|phone|sim|bank|banking|parental|atm|debit|credit|screen|app))\s{0,2}(?:the\s)?(?:pin|atm code)(?:\s(?:for|of)\s[^\n\d:]{1,30})?[\s:]{1,2}(\d{4,8})\b", "pin", is_any, 4),
    make_rule("access-code", r"(?i)\b(?:door|gate|alarm|safe|lock|garage|entry|key ?pad|locker|building|vault|unlock|elevator|participant|conference|meeting|host|dial-in)\s(?:code|pin|combination|combo)(?:\s(?:for|of|to|on)\s[^\n\d]{1,40}?)?(?:\sis(?: now)?|\swas|\s?[:=])?\s{0,2}([\d-]{4,11})\b", "code pin comb", is_any, 3),
    make_rule("access-code", rf"(?i)({_LEFT}(?:{_THEN}{_LEFT}){{2,}})[^\n]{{0,24}}?(?:open|unlock|开|锁)", "left right 左 右", is_any, 3),
    make_rule("card-code", r"(?i)(?:\b(?:cvv2?|cvc2?|csc|cvn2?|cid)\b|安全码|(?:卡背面|背面)(?:的)?(?:后?[三3]位(?:数字?)?)?)(?:\s?(?:code|number|is|码|号|是|为)){0,2}[\s:：#]{0,3}(\d{3,4})(?:\D|$)", "cvv cvc csc cvn cid 安全码 背面", is_any, 3),
    make_rule("url-credentials", r":[\w.-]{1,60}/([^\s:@/\"'<>]{4,100})@(?://)?[\w.-]{1,60}[:/]", "jdbc: @//", is_credential),
    make_rule("recovery-code", r"(?i)(?:\b(?:recovery|backup|emergency|scratch|rescue)\s(?:codes?|keys?)|恢复码|恢复密钥|备用码|备份码|救援码)(?:\s(?:for|of|to)\s[^\n:]{1,40}?)?[^\n\w]{0,3}(?:\s?(?:are|is|是|为))?[\s:：=]{1,3}((?:[0-9a-z]+-[0-9a-z-]+|[a-z]*\d[0-9a-z]{3,})(?:[,\s、]{1,2}(?:and |和 ?)?(?:[0-9a-z]+-[0-9a-z-]+|[a-z]*\d[0-9a-z]{3,}))*)", "recovery backup emergency scratch rescue 恢复 备用码 备份码 救援码", is_code),
    make_rule("spoken-token", rf"(?i)\b(?:(?:api|access|secret|signing|encryption|master|unseal|private|deploy|session|shared)[ -]?key|token|secret)\sis(?: now)?:?\s{{1,4}}{_QUOTE}([^\s\"'`<>“”⟦⟧]{{12,}})", "key token secret", is_real_with_digit, 1),
    make_rule("password-zh", rf"{_ZH_PHRASE}(?:\s?(?i:key|token|secret|appkey))?{_ZH_IS}([!-~]{{4,}})", "密码 口令 密钥 秘钥 令牌 凭证 私钥 暗号 密语 开机码 解锁码", is_password),
    make_rule("password-zh", rf"{_ZH_PHRASE}(?:我|就|都|也|还)?{_ZH_MADE}\s{{0,3}}([!-~]{{4,}})", "密码 口令 密钥 秘钥 令牌", is_password),
    make_rule("password-zh", rf"{_ZH_PHRASE}(?:我|就|都|也|还|先|暂时)?用的?(?:是)?\s{{0,3}}([!-~]{{6,}})", "密码 口令 密钥 秘钥 令牌", is_strong),
    make_rule("password-zh", rf"{_ZH_PHRASE}\s{{0,2}}([\w!#$%&*@^~+=-][!-~]{{5,}})", "密码 口令", is_real_with_digit),
    make_rule("password-zh", rf"{_ZH_PHRASE}{_ZH_IS}([A-Za-z.]{{4,30}})", "密码 口令 密钥 令牌 暗号 密语 开机码 解锁码", is_plain_password),
    make_rule("password-zh", r"(?:密钥|秘钥|令牌|私钥)\s{0,2}([!-~]{12,})", "密钥 秘钥 令牌 私钥", is_random, 1),
    make_rule("password-zh", rf"{_ZH_PHRASE}\s{{0,2}}(\d{{4,12}})", "密码 口令 暗号 密语 开机码 解锁码", is_password, 4),
    make_rule("password-zh", r"(?:密码|口令|密钥)(?:还|仍|就|都|是|用|我){0,3}(?:默认|统一|生日|还是|仍是|一直)(?:的|是|为|用){0,2}\s{0,2}([!-~]{6,})", "密码 口令 密钥", is_password_with_digit, 1),
    make_rule("password-zh", r"(?:密码|口令|密钥)[^\n]{0,10}?从\s{0,2}([!-~]{4,})", "密码 口令 密钥", is_password_with_digit, 1),
    make_rule("password-zh", rf"(?:密码|口令|密钥)[^\n]{{0,40}}?{_ZH_MADE}\s{{0,3}}([!-~]{{6,}})", "密码 口令 密钥", is_password_with_digit, 1),
    make_rule("password-zh", r"([!-~]{6,})\s{0,2}(?:就是|是)[^\n，。]{0,10}?(?:密码|口令)(?:$|[\s，。！])", "密码 口令", is_password_with_digit, 1),
    make_rule("password-zh", r"(?:密码|短语|密语)(?:是|为|：|:)\s{0,2}[“「『\"]([\x{4e00}-\x{9fff}]{3,16})[”」』\"]|暗号(?:是|为|：|:)\s{0,2}[“「『\"]?([\x{4e00}-\x{9fff}]{3,16})", "密码 短语 密语 暗号", is_spoken_zh),
    make_rule("verification-code-zh", r"(?:验证码|校验码|动态码|取件码|提取码|激活码|邀请码)(?:是|为|就是|发你了|给你|[\s：:【\[“]){0,4}([0-9A-Za-z]{4,8})(?:[^0-9A-Za-z-]|$)", "验证码 校验码 动态码 取件码 提取码 激活码 邀请码", has_digit),
    make_rule("verification-code", rf"(?i)\b{_CODE_OF} (?:code|password|passcode)(?: is|:| -)?\s{{1,4}}(\d{{4,8}}|\d{{3}}[ -]\d{{3}})\b", "code password passcode", is_any, 4),
    make_rule("verification-code", rf"(?i)\b(\d{{4,8}})\s(?:is|as)\s(?:your|the|my)\s(?:[\w-]{{1,20}}\s){{0,3}}?(?:{_CODE_OF}|sms) ?(?:code|passcode|password)\b", "code", is_any, 4),
    make_rule("verification-code", r"(?i)\b(?:otp|2fa|totp|mfa|sms)(?: code)?(?:(?: is| was|:|=)?\s{1,3}|=)(\d{4,8})\b", "otp 2fa mfa sms", is_any, 4),
    make_rule("verification-code", r"(?i)\bcode\s(\d{4,8})\s(?:to|and)\s(?:log|sign|verify|confirm|unlock|enter)", "code", is_any, 4),
    make_rule("verification-code-zh", r"(?:验证码|校验码|动态码)[^\n\d]{0,10}?是\s?(\d{4,8})(?:\D|$)", "验证码 校验码 动态码", is_any, 4),
    make_rule("verification-code-zh", r"动态(?:密码|口令)[是为\s：:]{0,3}(\d{4,8})(?:\D|$)", "动态", is_any, 4),
    make_rule("login-pair", r"(?i)\b(?:use|with|as|user(?:name)?|sign ?in|auth)\b[^\n/]{0,30}?[\s\"'(][\w.@+-]{1,60}\s?/\s?([^\s\"'`<>⟦⟧]{6,})", "/", is_pair_password, 1),
    make_rule("login-pair", r"(?:登[录陆]|[账帐][号户密]|后台|用户|网络|无线|热点|(?i:wi-?fi))[^\n/／]{0,12}?[\s:：][\w.@-]{1,40}\s?[/／]\s?([!-~]{6,})", "登录 登陆 账 帐 后台 用户 网络 无线 热点 wifi wi-fi", is_pair_password, 1),
    make_rule("login-with", rf"(?i)\b(?:log(?:ged|ging|s)?[ -]?(?:in|on)|sign(?:ed|s)?[ -]?in|ssh|connect|authenticate)\b[^\n]{{0,40}}?\b(?:as|with|user)\s{{1,2}}[\w.@+-]{{1,60}},?\s(?:with|using|and|by)\s{_QUOTE}([^\s\"'`<>⟦⟧]{{6,}})", "log sign ssh connect auth", is_pair_password, 1),
    make_rule("login-with", r"(?:用|拿)\s?([!-~]{6,})\s?(?:来|去)?(?:登[录陆]|解[压锁密]|打开|开锁|连上)", "登录 登陆 解 开 连上", is_pair_password, 1),
    make_rule("unlock-with", rf"(?i)\b(?:unlock|decrypt|unzip|extract|open|unseal)(?:s|ed|ing)?\b[^\n]{{0,40}}?\b(?:with|using|by)\s{_QUOTE}([^\s\"'`<>⟦⟧]{{6,}})", "lock decrypt zip extract open unseal", is_pair_password, 1),
    make_rule("unlock-with", r"解[压锁密]码?[是为\s:：]{1,3}([!-~]{6,})", "解压 解锁 解密", is_pair_password, 1),
    make_rule("wifi-key", r"\bWIFI:[^\n]{0,80}?\bP:([^;\n]{4,63})", "wifi:", is_credential),
    make_rule("wifi-key", r"(?i)\b(?:wi-?fi|wlan|ssid|hotspot)\b[^\n]{0,40}?\b(?:key|psk|pass|pw)\b[\s:=]{1,3}([^\s\"'`<>⟦⟧]{6,})", "wifi wi-fi wlan ssid hotspot", is_strong),
    make_rule("secret-assignment", r"\b[A-Z0-9_]{1,40}_(?:PAT|SK|AK|PW|PWD|PASS)\s?=\s?[\"']?([^\s\"']{6,})", "_pat _sk _ak _pw _pass", is_value),
    make_rule("secret-assignment", r"(?i)(?:[\"'](?:pass|pw|pin|\w{0,12}otp|cvv|pincode|passcode|(?:sms|verify|verification|auth|login)_?code)[\"']\s?:|(?-i:[a-z_]{1,20}(?:Pin|_pin|PIN|Otp|_otp))\s?:?=)\s?[\"']((?:[^\s\"']{6,}|\d{3,8}))[\"']", "pass\" pass' pw\" pw' pin\" pin' otp\" otp' cvv\" cvv' code\" code' pin otp", is_password_with_digit, 1),
    make_rule("code-password", r"(?i)\b(?:networkcredential|basicauth|basic_auth|auth|credentials?)\s?=?\s?(?:new\s)?\(\s?[\"'][^\"'\n]{1,60}[\"'],\s?[\"']([^\"'\n]{4,})[\"']", "credential auth", is_password),
    make_rule("code-password", r"(?i)\b(?:fernet|createhmac|hmac\.new|createcipher\w*|getconnection|secretkeyspec|wallet|keypair\.from\w+|sign(?:er)?|jwt\.(?:sign|verify|encode|decode))\(\s?(?:[\w.\"'-]{1,40},\s?){0,2}b?[\"'](?:0x)?([^\s\"']{6,})[\"']", "fernet hmac cipher getconnection secretkeyspec wallet keypair sign jwt", is_pair_password, 1),
    make_rule("command-line-password", r"\becho\s(?:-n\s)?[\"']?(?:[\w.-]{1,40}:)?([^\s\"'|:]{4,})[\"']?\s?\|\s?(?:sudo\s(?:\S{1,20}\s)?-S\b|(?:sudo\s)?chpasswd|docker login|passwd --stdin)|\bhtpasswd\s{1,2}-\w{0,4}b\w{0,4}\s{1,2}\S{1,200}\s{1,2}\S{1,80}\s{1,2}([^\s\"']{4,})|\bnet use\b[^\n]{1,120}?/user:\S{1,60}\s([^\s\"'/]{4,})|\s-(?:storepass|keypass|srcstorepass|deststorepass|passin pass:|passout pass:|pass pass:)\s?([^\s\"']{4,})", "sudo chpasswd stdin docker htpasswd /user: storepass keypass pass:", is_credential),
    make_rule("command-line-password", r"\b(?:mongo(?:sh|dump|restore|import|export)?|mariadb|clickhouse-client|influx|smbclient|ldapsearch|openssl|7za?|zip|unzip|rar|unrar)\b[^\n]{0,120}?\s-[pPwk]\s?[\"']?([^\s\"'-][^\s\"']{5,})", "mongo mariadb clickhouse influx smb ldap openssl 7z zip rar", is_joined_password, 1),
    make_rule("spoken-password", rf"(?i)\b(?:password|passphrase|passcode|pwd|pw)\s(?:stays|remains|ist|lautet|reads|goes)(?: like)?:?\s{_QUOTE}({_SIGN}{{5,}})", "passw passp passc pwd pw", is_strong, 1),
    make_rule("spoken-password", rf"(?i)\b(?:password|passphrase|passcode|pwd|pw)\b[^\n]{{0,30}}?\b(?:enter|type|give|put|try)(?: in)?\s{_QUOTE}({_SIGN}{{5,}})", "passw passp passc pwd pw", is_strong, 1),
    make_rule("spoken-password", rf"(?i)\b(?:enter|type|use|give|put|try)\s{_QUOTE}({_SIGN}{{5,}})[\"'`”]?,?\s(?:when|if|where|once|at|in)\b[^\n]{{0,40}}?\b(?:password|passphrase|passcode|pwd|pw)\b", "passw passp passc pwd pw", is_strong, 1),
    make_rule("access-code", r"(?i)\b(?:code|combination|combo|pin)\s(?:to|of|for)\s(?:(?:the|my|our|your)\s)?(?:\w{1,12}\s)?(?:safe|lock|gate|door|locker|vault|alarm|garage|key ?pad|building|house|flat)\s?(?:is(?: now)?|:|=)\s{0,2}([\d-]{4,11})\b", "code comb pin", is_any, 4),
    make_rule("access-code", r"门禁[^\n\d]{0,6}?(\d{4,8})(?:[#＃*]|[\s，。；]|$)", "门禁", is_any, 4),
    make_rule("spoken-token", r"(?i)\b(?:token|secret|csrf|sk|ak|pat|session[ _-]?id)(?:\sis)?[ \t:=：]{1,3}[\"'`]?([a-z0-9]{20,128})\b", "token secret csrf sk ak pat session", is_token, 3),
    make_rule("prefixed-token", r"\b([a-z]{2,8}_[A-Za-z0-9]{32,128})\b", "_", is_token, 3),
    make_rule("wallet-key", r"(?i)(?:wallet|private key|\bwif\b|bitcoin|\bbtc\b|私钥|钱包)[^\n]{0,20}?\b(?-i:([5KL][1-9A-HJ-NP-Za-km-z]{50,51}))\b", "wallet private wif btc bitcoin 私钥 钱包", is_token, 3),
    make_rule("password-zh", r"(?:密码|口令)[^\n，。]{0,10}?[：:\s]\s{0,2}([!-~]{6,})", "密码 口令", is_pair_password, 1),
    make_rule("password-zh", r"(?:密码|口令)(?:就|才|只)(?:是|用)?\s{0,2}([!-~]{6,})", "密码 口令", is_strong, 1),
    make_rule("password-zh", r"密码[^\n，。\d]{0,4}(?:数字|生日|老样子)[^\n，。\d]{0,4}(\d{4,12})(?:\D|$)", "密码", is_password, 4),
    make_rule("drawn-password", r"([A-Za-z0-9!#$%&*^~+_-]*[A-Za-z0-9][!#$%&*^][A-Za-z0-9][A-Za-z0-9!#$%&*^~+_-]*)", "! # $ % & * ^", is_drawn_alone, 1),
    make_rule("login-pair", r"\b[\w.@+-]{2,60}\s/\s([\w.+-]{2,40}[!$%&*#^][^\s\"'`<>⟦⟧]{0,40})", "/", is_drawn, 1),
    make_rule("login-pair", r"\b[\w.+-]{1,60}@[\w.-]{1,60}(?:\s(?:and|with|pass|pw|密码)|\s?[,，:：/])\s?([^\s\"'`<>⟦⟧/@]{6,})", "@", is_pair_password, 1),
    make_rule("login-pair", r"(?:登[录陆]|[账帐][号户密]|用户名?|后台)[^\n]{0,8}?[\s:：][\w.@-]{1,40}[\s,，:：]{1,3}([!-~]{6,})", "登录 登陆 账 帐 后台 用户", is_pair_password, 1),
    make_rule("url-credentials", r"\bss://([A-Za-z0-9+/=_-]{16,200})@", "ss://", is_real_with_digit, 1),
    make_rule("command-line-password", r"\blftp\s[^\n]{0,60}?-u\s?[\w.@+-]{1,40},([^\s\"']{4,})|\bsmbclient\s[^\n]{0,80}?-U\s?[\w.@/\\-]{1,40}%([^\s\"']{4,})|\b(?:cargo|vault|doctl|fly|npm) login\s(?:--?\w{1,10}\s)?([\w.-]{20,})", "lftp smbclient login", is_credential),
    make_rule("url-credentials", r"\b[\w.-]{1,60}:([^\s:@/\"'<>]{4,200})@(?:tcp|unix|udp)\(", "@tcp( @unix( @udp(", is_credential),
    make_rule("recovery-code", r"(?i)(?:recovery|backup|one-time|scratch|恢复|备用|备份)[^\n]{0,30}?(?:codes?|码)[^\n]{0,30}\n((?:[ \t>*-]{0,4}(?:\d{1,2}[.)]\s)?[a-z0-9]{4,12}(?:[- ][a-z0-9]{3,12}){0,3}[ \t]{0,4}(?:\n|$)){2,20})", "recovery backup one-time scratch 恢复 备", has_digit, 4),
    make_rule("recovery-code", r"\b(\d{6}(?:-\d{6}){7})\b", "-", is_any, 48),
    make_rule("verification-code", r"(?i)\byour code is:?\s{1,2}(\d{4,8})\b", "code", is_password, 4),
    make_rule("verification-code-zh", r"提取码\s?[:：]\s?([0-9A-Za-z]{4})\b", "提取码", is_any),
    make_rule("password-zh", r"解压(?:密码|码)[是为\s:：]{0,3}([!-~]{4,})", "解压", is_credential),
    # Spoken in sentences, and numbers that open something
    make_rule("told-password", rf"(?i)\b(?:pass ?word|pass ?phrase|pass ?code|passwd|pwd|pw|login word|secret word)\b[^\n.;!]{{0,60}}?(?:\b(?:is|was|are|be)|[:?=])\s{{1,3}}{_QUOTE}({_SIGN}{{6,}})", "passw passp passc pass␣p pass␣c pwd pw word", is_told, 1),
    make_rule("told-password", rf"(?i)\b(?:sudo|root|admin|login|laptop|phone|pc|computer|pdf|zip|file|archive|account|portal|disk|drive)\b[^\n.;!]{{0,40}}?\b(?:needs|wants|takes|asks for|opens with|unlocks with)\s{_QUOTE}({_SIGN}{{6,}})", "needs wants takes asks␣for opens␣with unlocks␣with", is_told, 1),
    make_rule("told-password", r"(?:密码|口令|暗号)(?:[^\n。！？!?学管模（(][^\n。！？!?A-Za-z]{0,23}?)?(?:[,，：:]|是|成|为|叫)\s{0,2}([!-~]{6,})", "密码 口令 暗号", is_told, 1),
    make_rule("told-password", r"(?:密码|口令|暗号)\s{0,2}[是为:：]\s{0,2}[“「\"]?([\x{4e00}-\x{9fff}]{2,12}\d{2,8})", "密码 口令 暗号", is_told_zh, 2),
    make_rule("told-password", r"(?:密码|口令)[^\n。！？!?]{0,16}?[,，]\s{0,2}(?:全?小写|全?大写|拼音)(?:的|是)?\s{0,2}([A-Za-z.]{4,30})", "密码 口令", is_plain_password),
    make_rule("told-number", rf"密码锁[^\n。！？!?A-Za-z]{{0,12}}?[,，：:\s是]\s{{0,2}}{_NUMBER}|(?:密码|口令)[^\n。！？!?A-Za-z`]{{0,24}}?(?:[,，：:\s]|是|成|为)\s{{0,2}}(\d(?:[ -]\d){{3,11}}|\d{{1,6}}(?:-\d{{1,6}}){{1,4}}|\d{{4,12}})", "密码 口令", is_lock_number, 3),
    make_rule("told-number", rf"(?:密码|口令)\s{{0,2}}\d{{3,12}}\s{{0,2}}{_ZH_MADE}\s{{0,2}}(\d{{3,12}})", "密码 口令", is_lock_number, 6),
    make_rule("told-number", rf"(?i)\b(?:otp|m?tan|pin|puk|cvc2?|cvv2?|pass ?code|(?:voicemail|one[- ]time|sms|login|security|verification) code|apple id verification)\b[^\n.;!?\d-]{{0,40}}?(?:\b(?:is|was|are)|:)\s{{0,2}}{_NUMBER}", "otp tan pin puk cvc cvv code verification", is_lock_number, 3),
    make_rule("told-number", rf"(?i)\b(?:otp|m?tan|puk)\b[^\n.;!?\d]{{0,20}}?\s{_NUMBER}", "otp tan puk", is_lock_number, 3),
    make_rule("told-number", r"(?:验证码|校验码|动态码|取件码|开柜码|取餐码|提取码|兑换码|兑换口令|核销码)(?:是|为|就是|[\s：:]){0,4}(\d{1,4}(?:[ -]\d{1,4}){1,4}|[A-Z0-9]{2,8}(?:-[A-Z0-9]{2,8}){1,4}|\d{4,8})", "验证码 校验码 动态码 取件码 开柜码 取餐码 提取码 兑换 核销码", is_lock_number, 3),
    make_rule("access-code", rf"(?i)\b{_LOCK}\b[^\n.;!]{{0,60}}?(?:\b(?:takes|wants|needs|accepts|expects|opens (?:with|on|to)|unlocks (?:with|at|on)|(?:is )?set to|(?:unlock )?sequence|key|code|pin|type|enter|press|dial|punch(?: in)?)[:,]?|:)\s{_NUMBER}", "pad lock safe vault garage gate barrier alarm intercom buzzer door elevator bike suitcase luggage voicemail", is_lock_number, 3),
    make_rule("access-code", rf"(?i)\b(?:unlock|disarm|decrypt)(?:s|ed|ing)?\b[^\n.;!]{{0,40}}?\b(?:with|using)\s{_NUMBER}", "unlock disarm decrypt", is_lock_number, 3),
    make_rule("access-code", rf"(?i)\b(?:use|enter|type|press|dial|punch(?: in)?|tap)(?: in)?(?: the)?(?: code| pin| number)?\s{_NUMBER}[#*]?\s(?:at|on|to open|for)\s[^\n.;!]{{0,30}}?\b{_LOCK}\b", "pad lock safe vault garage gate barrier alarm intercom buzzer door elevator bike suitcase luggage voicemail", is_lock_number, 3),
    make_rule("access-code", rf"(?:门|锁|闸|柜|箱|库|停车场|报警器|警报|电梯|对讲|投屏|取[钱款]|存折)[^\n。！？!?；]{{0,24}}?(?:按|输入?|拨|敲|摁|数字是?|撤防码|的码是?|码是)\s{{0,2}}[:：]?\s{{0,2}}{_NUMBER}", "按 输 拨 敲 摁 数字 码", is_lock_number, 3),
    make_rule("access-code", rf"(?i)(?:\b(?:safe|lock|dial|combination|vault)\b|保险[柜箱]|密码锁|转盘)[^\n]{{0,40}}?({_LEFT}(?:{_THEN}{_LEFT}){{2,}}|\d{{1,3}}\s?(?:left|right)(?:{_THEN}\d{{1,3}}\s?(?:left|right)){{2,}})", "safe lock dial combination vault 保险 锁 转盘", is_any, 3),
    make_rule("login-pair", r"(?i)(?:^|[\s(:：])(?:admin(?:istrator)?|root|guest|postgres|ubuntu|sa)\s/\s([!#-&*-~]{6,})", "admin root guest postgres ubuntu sa", is_pair_password, 1),
    make_rule("told-token", r"(?i)(?:\w{0,40}(?:key|secret|token|seed)\b|\b[as]k\b|密钥|种子|令牌|私钥)[^\n]{0,30}?[ \t:：=是为\"'`](\w[\w+/-]{15,127}={0,2})", "key secret token seed ak sk 密钥 种子 令牌 私钥", is_drawn_token, 1),
    make_rule("told-token", r"(?i)(?:key|secret|token|seed|\b[as]k\b)[^\n]{0,30}?[ \t:：=是为\"'`]\w{16,128}(?:\s?(?:和|and|[,，、/])\s?)(\w{16,128})", "key secret token seed ak sk", is_drawn_token, 3),
    make_rule("dingtalk-secret", r"\b(SEC[0-9a-f]{64})\b", _followed_by_hex("sec"), is_any),
    make_rule("app-password", r"授权码[是为:：\s]{0,3}([a-z]{16})\b", "授权码", is_any),
    make_rule("docker-auth", r"\"auth\"\s?:\s?\"([A-Za-z0-9+/]{12,}={0,2})\"", "auth", is_random),
    make_rule("code-password", r"(?i)[\"']\w*(?:password|passwd|pwd|secret|token|api_?key|_salt|_pass)[\"']\s?(?:,|=>)\s?[\"']([^\"'\s]{6,})[\"']", "passw pwd secret token key _salt _pass", is_told, 1),
    make_rule("pgpass", r"(?m)^\s{0,8}(?:[a-zA-Z][\w.-]{2,80}|\*):(?:\d{2,5}|\*):(?:[\w-]{3,40}|\*):(?:[a-zA-Z][\w-]{2,40}|\*):(\S{4,80})$", ":", is_password_with_digit, 1),
    make_rule("security-answer", r"(?i)(?:security|secret) question[^\n]{0,60}?answer(?:\sis|\s?[:=])?\s(?-i:([A-Z][\w'-]{2,40}))", "question", is_any),
    # Values that words announce, however they stand behind them
    make_rule("webhook", r"(?i)\bhttps?://[^\s\"'<>]{0,120}?hooks?[a-z0-9]{0,3}(?:[/.][^\s\"'<>/]{1,60}){0,4}?/((?:[a-z0-9-]{0,20}\d[a-z0-9@-]{16,}|[a-z0-9_-]{24,})(?:/[^\s\"'<>]{1,200})?)", "hook", has_digit, 1),
    make_rule("url-credentials", r"(?i)[?&](?:key|token|secret|api_?key|access_?token|auth|password|passwd|pwd|code|ticket|otp|sid|session|session_?id|jwt|credential)=([^\s&#\"'<>]{8,})", "key= token= secret= apikey= auth= password= passwd= pwd= code= ticket= otp= sid= session= sessionid= session_id= jwt= credential=", is_told_in_url, 1),
    make_rule("secret-assignment", r"(?i)\bname[\"']?\s?[:=]\s?[\"']?[\w.-]{0,40}(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key)[\"']?\s{0,3},?\s{0,20}[\"']?value[\"']?\s?[:=]\s{0,3}[\"']?([^\s\"'}]{4,})", "value", is_password),
    make_rule("secret-assignment", r"(?m)^\s{0,8}(?:export\s)?[A-Z][A-Z0-9_]{0,40}(?:SECRET|SECRET_KEY|PASSWORD|PASS)=((?:[^\s\"'$`]|\$[^{(\sA-Z]){10,})$", "secret= secret_key= password= pass=", is_password_with_digit, 1),
    make_rule("secret-assignment", r"(?m)^\s{0,8}(?:export\s)?[A-Z][A-Z0-9_]{0,40}(?:PASSWORD|PASSPHRASE|PASS)=[\"']?((?:[a-z0-9]{2,12}[ -]){2,11}[a-z0-9]{2,12})[\"']?$", "password= passphrase= pass=", is_phrase),
    make_rule("passphrase", r"(?i)[\"'](?:pass ?phrase|password|mnemonic)[\"']\s?:\s?[\"']([a-z]{3,12}(?:[ -][a-z]{3,12}){2,23})[\"']", "passphrase password mnemonic", is_phrase),
    make_rule("command-line-password", r"\b(?:unzip|zip|sqlcmd|osql|bcp|isql)\b[^\n]{0,120}?\s-P\s?[\"']?([^\s\"'-][^\s\"']{3,})", "zip sqlcmd osql bcp isql", is_credential),
    make_rule("command-line-password", r"(?i)\s--(?:passphrase|password|passwd)[= ][\"']?([^\s\"'`<>-][^\s\"'`<>]{5,})", "--pass", is_joined_password),
    make_rule("security-answer", r"(?i)\banswer to (?:the |my |our |a )?(?:security|secret) question[^\n]{0,40}?(?:\sis|[:=])\s{1,3}[\"'“]?([^\s\"'”」。.,]{3,40})", "question", is_any),
    make_rule("security-answer", r"(?i)\b(?:maiden name|(?:security|secret) answer|answer to (?:it|that|the question))(?: \w{1,10}){0,3}?(?: is| was|:| =) ?[\"'“]?((?-i:[A-Z][\w'’-]{2,30}(?: [A-Z][\w'’-]{2,30}){0,2}))", "maiden answer", is_any),
    make_rule("security-answer", r"(?i)\b(?:first (?:pet|car|school|job|teacher)|childhood|grew up|favou?rite (?:teacher|book|food|film|movie)|born in|mother)[^\n?:]{0,40}(?:\?\s{0,2}(?:a|answer)?\s?:|\sa:)\s{1,2}((?-i:[A-Z][\w'’-]{2,30}(?: [A-Z][\w'’-]{2,30}){0,2}))", "first childhood grew favo born mother", is_any),
    make_rule("login-with", r"(?:用|拿)\s?([!-~]{6,})\s?(?:来|去)?(?:登|进)", "登 进", is_pair_password, 1),
    make_rule("login-with", rf"(?i)\b(?:use|enter|type)\s{_QUOTE}([^\s\"'`<>⟦⟧]{{6,}})\s(?:to|for)\s(?:log|sign|unlock|open|get in|authenticate)", "log sign lock open get␣in auth", is_pair_password, 1),
    make_rule("login-with", r"(?:输入?|填)\s?([!-~]{6,})\s?(?:就行|就好|即可|就能|就可以|就开|登)", "输 填", is_pair_password, 1),
    make_rule("verification-code", r"(?i)\b(?:use|enter|type)\s(\d{4,8}|\d{3}[ -]\d{3})\s(?:to|for|when)\s(?:log|sign|verif|confirm|unlock|open|disarm)", "log sign verif confirm unlock open disarm", is_any, 4),
    make_rule("verification-code", r"(?i)(\d{4,8})\s?[(（\[【](?:[^\n()（）]{0,6}(?:验证码|校验码|动态码|动态口令)|(?:otp|(?:verification |login |security )code))", "验证码 校验码 动态码 动态口令 otp code", is_any, 4),
    make_rule("verification-code", r"\b([A-Z]{1,3}-\d{4,8}) is (?:the|your) (?:\w{1,20} ){0,2}code\b|(?i:google|code|sms|texted|sent)\b[^\n]{0,20}?\b(G-\d{6})\b", "code google sms text sent", is_any, 4),
    make_rule("seed-phrase", r"(?i)(?:bip-?39|mnemonic|recovery|\bseed|wallet|助记词)[^\n]{0,40}?[:：]?\s{1,3}((?:\d{1,2}[.):、]?\s{0,2}[a-z]{3,8}[\s,，]{1,3}){11,23}\d{1,2}[.):、]?\s{0,2}[a-z]{3,8})\b", "bip mnemonic recovery seed wallet 助记词", is_any, 12),
    make_rule("personal-number", r"(?i)\b(?:steuer-?id(?:nr\.?)?|tax (?:id|number)|nhs(?: number| no\.?)?|medicare|medicaid|national insurance|(?:social|health) insurance|insurance number|aadhaar|\bpan|cpf|dni|nif|bsn)\b[^\n\d]{0,20}?(\d[\d -]{6,16}\d|[A-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D])\b", "steuer tax nhs medicare medicaid insurance aadhaar pan cpf dni nif bsn", is_account, 6),
    make_rule("webhook", r"\bhttps?://hooks?\.[a-z0-9.-]{3,60}/[\w/-]{0,80}?((?:[\w-]{4,40}/)?[\w-]{6,80})/?(?:[\s\"'<>)]|$)", "://hook", has_digit, 1),
    make_rule("signed-url", r"(?i)://[^\s\"'<>]{3,120}/(?:invite|join|verify|activate|confirm|reset(?:-password)?|magic|magic-link|unsubscribe|login|portal/login)(?:/|\?\w{1,12}=)([\w-]{12,128})(?:[\s\"'<>?#)]|$)", "invite join verify activate confirm reset magic unsubscribe login", is_drawn_path, 3),
    make_rule("seed-phrase", r"(?i)\b(1[.):、]?\s{0,2}[a-z]{3,8}[\s,，]{1,3}2[.):、]?\s{0,2}[a-z]{3,8}[\s,，]{1,3}3(?:[.):、]?\s{0,2}[a-z]{3,8}[\s,，]{1,3}\d{1,2}){8,21}[.):、]?\s{0,2}[a-z]{3,8})\b", "words phrase seed wallet ledger mnemonic 助记词", is_any, 12),
    make_rule("passphrase", r"(?i)\b(?:volume|disk|drive|vault|archive|key|keystore|luks|repo|container|backup|file)\b[^\n]{0,30}?\b(?:unlock|decrypt|open)(?:s|ed)?\s(?:with|using|by)\s[\"'“]?([a-z]{3,12}(?:[ -][a-z]{3,12}){2,7})[\"'”]?(?:$|[.,;\n])", "lock decrypt open", is_phrase),
    make_rule("wallet-key", r"\b([xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,112}|nsec1[02-9ac-hj-np-z]{58})\b", "prv nsec1"),
    make_rule("serverchan-key", r"\b(SCT\d{3,8}T[A-Za-z0-9]{20,40})\b", "sct"),
    make_rule("mapbox-token", r"\b(sk\.eyJ[\w-]{8,}\.[\w-]{16,})", "sk.eyj"),
    make_rule("secret-assignment", r"(?im)^\s{0,12}[\w.]{1,40}[_.](?:password|passphrase|passwd|pass)\s?[:=]\s?[\"']?((?:[a-z0-9]{1,12} ){2,8}[a-z0-9]{2,12})[\"']?$", "_pass .pass", is_phrase, 1),
    make_rule("deepl-key", r"\b([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}:fx)\b", ":fx"),
    make_rule("card-number", r"(?i)(?:\b(?:card|visa|master ?card|amex|debit|credit)\b|卡)[^\n\d]{0,30}?(\d{4}(?:[ -]\d{4}){3}(?:[ -]\d{1,3})?)\b", "card visa amex debit credit 卡", is_any, 16),
    make_rule("license-key", r"(?:序列号|注册码|激活码|密钥)[是为:：\s]{0,3}([A-Z0-9]{12,24})\b", "序列号 注册码 激活码 密钥", is_code_of_letters, 1),
    make_rule("licence-number", r"(?:驾驶证|行驶证|护照|档案|社保|公积金|医保)[^\n\d]{0,8}?(?:编号|号码?)[是为:：\s]{0,3}(\d{8,18})\b", "编号 号", is_any, 8),
    make_scan("cookie", COOKIE_WORDS, "cookie sess bduss z_c0 .sid", find_cookies, 1),
    make_scan("told-password", TABLE_HEAD, "pass secret api token pin pw 密码 口令 密钥 令牌 验证码", find_cells, 1),
    make_scan("told-password", LOGIN_WORDS, "pass pwd pw psk community log sign user account cred wi-fi wifi ssid hotspot wlan admin secret 密码 口令 暗号 登 账 帐 用户 开机 后台 管理页", find_passwords, 1),
    make_scan("told-token", KEY_WORDS, "token secret key licen serial auth cred ak sk 密钥 秘钥 令牌 私钥 激活码 序列号 注册码 恢复码 备用码 凭证", find_tokens, 1),
    make_scan("told-number", CODE_WORDS, "lock pin puk otp tan cv pass code comb sequence pad 密码 口令 的码 位 配对码 验证码 校验码 动态码 取件码 提取码 开柜码", find_numbers, 3),
    make_scan("access-code", LOCK_WORDS, "lock safe vault gate garage shed alarm intercom buzzer barrier disarm door 保险 门", find_lock_numbers, 3),
    make_scan("told-secret", words_of(OFTEN), keys_of(OFTEN), find_announced_values, 0)._replace(apart=60),
    make_scan("told-secret", words_of(LOGINS), keys_of(LOGINS), find_announced_values, 1)._replace(apart=60),
    make_scan("told-secret", words_of(NUMBERED), keys_of(NUMBERED), find_announced_values, 3)._replace(apart=60),
    *PRIVATE_RULES,
)
"""Every bundled rule; two rules may share a name."""
# fmt: on
