"""What private data looks like: addresses, numbers of people, cards and accounts; see `secret_rules`."""

# ruff: noqa: E501  the table of rules is read as a table, one rule a line

from __future__ import annotations

from kimi_memory.nlp.rules.credentials import is_any
from kimi_memory.nlp.rules.private_numbers import (
    is_account,
    is_address,
    is_card_number,
    is_iban,
    is_id_card,
    is_phone,
    stands_alone,
)
from kimi_memory.nlp.rules.secret_rule import Rule, make_rule
from kimi_memory.nlp.rules.secret_words import has_digit

_DIGITS = "0 1 2 3 4 5 6 7 8 9"

# fmt: off
PRIVATE_RULES: tuple[Rule, ...] = (
    make_rule("email", r"(?i)\b([a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}[a-z]{2,18})\b", "@", is_address),
    make_rule("cn-mobile", r"(?:\b|\+?86[ -]?)(1[3-9]\d[ -]?\d{4}[ -]?\d{4})\b", _DIGITS, stands_alone, 11),
    make_rule("cn-id-card", r"\b([1-9]\d{5}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx])\b", _DIGITS, is_id_card, 17),
    make_rule("cn-id-card", r"(?i)(?:身份证件?|证件|公民身份|社保|社会保障|驾驶证|驾照|\bid ?card|\bid number|\bnational id|\bidentity card|\bid no\.?)[^\n\d]{0,20}?(\d{17}[\dx]|\d{15})(?:[^\dx]|$)", "身份 证件 社 驾 id", is_any, 15),
    make_rule("bank-account", r"(?:银行|对公|收款|收款方|工资|公司|打款|转账|转到|打到|汇到|开户|退款|汇款)[^\n\d]{0,10}?(?:[账帐]号|[账帐]户|卡号|卡里|卡上)[是为\s:：]{0,4}(\d[\d -]{4,28}\d)", "账号 帐号 账户 帐户 卡号 卡里 卡上", is_account, 6),
    make_rule("bank-account", r"(?i)\b(?:(?:bank|checking|savings) account|(?:wire|transfer|pay|send|refund)\b[^\n\d]{0,20}\baccount|routing|sort code[^\n]{0,20}account|sort code)(?:\s(?:number|no\.?|nr\.?))?(?:\sis|\s?[:#])?\s{1,3}(\d[\d -]{4,24}\d)", "account routing sort", is_account, 6),
    make_rule("bank-card", r"\b(\d(?:[ -]?\d){12,18})\b", _DIGITS, is_card_number, 13),
    make_rule("passport", r"(?i)(?:护照号?码?[\s:：#是为]{0,6}|(?:通行证|台胞证|回乡证|居住证)号?码?[\s:：#是为]{0,6}|passport(?: no\.?| number| num)?[\s:：#]{1,6}(?:is )?)([A-Z]{1,2}\d{7,8}|\d{8,9}|[A-Z][A-Z0-9]{8})\b", "护照 通行证 台胞证 回乡证 居住证 passport", has_digit, 1),
    make_rule("driving-licence", r"(?i)\bdriv(?:er['’]?s?|ing) licen[cs]e(?: number| no\.?)?(?: is|:)?\s{1,3}([A-Z0-9-]{6,18})\b", "driv", has_digit, 4),
    make_rule("iban", r"\b([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b", _DIGITS, is_iban, 8),
    make_rule("us-ssn", r"(?i)(?:\bssn\b|social security|\bmy social\b)[^\d\n]{0,30}(\d{3}[- ]?\d{2}[- ]?\d{4})\b", "ssn social", is_any, 9),
    make_rule("phone", r"(\+[1-9][\d ().-]{7,18}\d)\b", "+", is_phone),
    make_rule("phone", r"(?i)(?:\b(?:(?:tele)?phone|mobile|cell|tel|(?:call|text|ring|reach|whatsapp) me (?:at|on)|contact number)\b(?: (?:number|no\.?|is|at|on)){0,2}|(?:电话|手机|座机|联系方式)(?:号码?|是|为){0,2})[\s.:：#(（]{0,4}(\d{3,4}[)）]?[ .-]?\d{3,4}[ .-]?\d{3,4})\b", "phone mobile cell tel call text me ring me reach whatsapp contact 电话 手机 座机 联系", is_any, 9),
)
# fmt: on
