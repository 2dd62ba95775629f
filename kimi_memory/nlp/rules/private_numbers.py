"""Judge whether digits are the number of a card, an account, a person or a lock."""

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.credentials import ENDS

_DATE = regex(r"\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])-[0-3]\d\b")
_YEARS = regex(r"(?:(?:19|20)\d\d)(?:[ -](?:19|20)?\d\d){0,2}")
_CARD = regex(r"3[04-9]|4|5|6|9|22[2-9]|2[3-6]|27[0-2]")
"""How cards begin; order numbers mostly begin with a date."""
_GROUPS = regex(
    r"\d{13,19}|\d{4}([ -])(?:\d{4}\1){2}\d{1,4}(?:\1\d{1,3})?"
    r"|\d{4}([ -])\d{6}\2\d{4,5}|\d{6}[ -]\d{9,13}"
)
"""How their digits are set apart; columns of numbers are not."""
_UNIT = regex(r"\s?(?:bytes?|bits?|rows?|lines?|sectors?|[KMG]i?B|ms|[µun]s)\b")
# Weights and check letters of GB 11643-1999, the standard of Chinese identity numbers.
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is not a piece of a longer number, name, hash or path."""
    if _UNIT.match(text, end):
        return False  # Disk /dev/sda: 19327352832 bytes
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    is_glued = (
        before[-1:] in tuple("_/-.=#@%&") and before[-2:-1].isascii() and before[-2:-1].isalnum()
    )
    is_continued = after[:1] in tuple("_-./@%") and after[1:].isascii() and after[1:].isalnum()
    return not is_glued and not is_continued


def is_card_number(text: str, start: int, end: int) -> bool:
    """Whether the check digit of a payment card is right."""
    digits = _find_digits(text, start, end)
    if len(set(digits)) < 3 or not (
        _CARD.match(text, start) and _GROUPS.fullmatch(text, start, end)
    ):
        return False
    # The check digit of Luhn (ISO/IEC 7812): without it every long order number would be masked.
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    is_sum_right = (sum(doubled) + sum(digits[-1::-2])) % 10 == 0
    return is_sum_right and stands_alone(text, start, end)


def is_id_card(text: str, start: int, end: int) -> bool:
    """Whether the check digit of a Chinese identity card is right."""
    number = text[start:end].upper()
    total = sum(int(digit) * weight for digit, weight in zip(number, _ID_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == number[17] and stands_alone(text, start, end)


def is_iban(text: str, start: int, end: int) -> bool:
    """Whether the check digits of an international account number are right."""
    value = text[start:end].replace(" ", "").upper()
    if not 15 <= len(value) <= 34:
        return False
    # ISO 13616: country and check digits move to the end, letters count from 10.
    turned = value[4:] + value[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def is_account(text: str, start: int, end: int) -> bool:
    """Whether it has as many digits as the number of a bank account."""
    return 6 <= len(_find_digits(text, start, end)) <= 25


def is_phone(text: str, start: int, end: int) -> bool:
    """Whether it has as many digits as an international telephone number.

    Between an offset and a date there is none: "UTC+9 (2025-05-05, …".
    """
    if _DATE.search(text, start, end):
        return False
    return 9 <= len(_find_digits(text, start, end)) <= 15 and stands_alone(text, start, end)


def is_address(text: str, start: int, end: int) -> bool:
    """Whether an e-mail address is one, not the ``git@host:path`` of a remote."""
    return not (text[start:end].startswith("git@") and text[end : end + 1] in ":/")


def _find_digits(text: str, start: int, end: int) -> list[int]:
    return [int(sign) for sign in text[start:end] if sign in "0123456789"]


_SENTENCE = 300
"""Characters of a sentence that are read, at most."""
_SENTENCE_ENDS = "\n.;!?。；！？"
_OF_PROGRAMS = regex(
    r"\b(?:status|exit(?:s|ed|ing)?|errors?|errno|fail(?:s|ed|ing|ures?)?|return(?:s|ed|ing)?"
    r"|respon\w+|answer(?:s|ed)|https?|requests?|threads?|mutex|time-?outs?|deadlocks?"
    r"|connections?|ports?|localhost|contention|acquire[sd]?|runs? on|listen(?:s|ing)?|defaults?"
    r"|limits?|sizes?|width|height|number of|alarm (?:is |was )?set)\b"
    r"|状态码|错误码|退出码|返回|超时|端口|线程|默认",
    2,
)
"""Words of sentences that tell of programs and measures, before a number."""


def tells_of_programs(text: str, start: int) -> bool:
    """Whether a sentence tells of programs or measures before what stands at `start`."""
    first = max(0, start - _SENTENCE)
    begins = max(first - 1, *(text.rfind(sign, first, start) for sign in _SENTENCE_ENDS)) + 1
    return bool(_OF_PROGRAMS.search(text, begins, start))


def is_lock_number(text: str, start: int, end: int) -> bool:
    """Whether digits open something: they end what is said, and are no date and no count.

    "The vault fails with code 503" tells of a program.
    """
    value = text[start:end]
    if tells_of_programs(text, start):
        return False
    return (
        3 <= len(_find_digits(text, start, end)) <= 12
        and not _YEARS.fullmatch(value)
        and bool(ENDS.match(text, end))
        and stands_alone(text, start, end)
    )
