"""English forms that name a thing and what is said of it: "the port of Atlas"."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from functools import partial

from kimi_memory.nlp.basic.patterns import rule

_PARTS = {
    # Words that end a noun, because a verb, a preposition or another part begins.
    "link": r"is|are|was|were|be|been|will|would|has|have|had|became|becomes|become|remains?|stays?|stands?|happens?|equals|reads|means|isn't|aren't|wasn't"
    r"|went|got|gets|goes|moved|changed|turned|runs|sits|lies|lives|starts|begins|ends|comes|costs|points|seems|looks|falls|fell|applies|exists|belongs|counts",
    "small": r"to|from|now|just|no|not|and|or|so|that|which|who|whose|i|we|you|they|it|he|she|at|on|for|of|in|as|by|with|any|than|then|since|but|if|when"
    r"|there|here|also|still|never|always|the|a|an|its|our|my|your|his|her|their|this|these|those|actually|really|too|very|out|up|down|over|again|instead|rather|because|until|while|before|after|please|anymore",
    "verb": r"should|must|can|could|may|might|used|uses|doesn't|don't|didn't|does|do|did|said|told|gave|give|works|failed|fails|needs|wants|chose|chosen|set|took|met|put|knows?|makes?|keeps?|takes?|lets?|left|made|\w+ed",
    "stop": r"(?:<link>|<small>|<verb>)",
    "word": r"(?!<stop>\b)[A-Za-z][\w-]*",
    "noun": r"<word>(?: (?!<stop>\b)[a-z][\w-]*){0,2}|day off|time off",
    # Capital letters, as in "Atlas", "R&D", "Blue Harbor"; "I" is nobody's name.
    "name": r"\b[A-Z][\w&+]*(?:-[\w]+)*(?: (?!I\b)[A-Z][\w&+-]*){0,2}",
    "sort": r"project|team|service|server|system|app|application|tool|library|module|cluster|repo|repository|pipeline|platform|component|site|website|database|api|product|client|customer|account",
    "owner": r"(?:the |our |my |project )*(?P<e><name>|(?<=the |our )[a-z][\w-]* (?:<sort>))(?: (?:<sort>)(?= |,|'|$|\)))?",
    "adj": r"(?:(?:new|current|old|present|official|actual|real|latest|own|usual|final|former|only|exact|right|correct) )?",
    "the": r"[Tt]he|[Oo]ur|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er|[Tt]hat|[Tt]his|as",
    "its": r"[Ii]ts|[Hh]is|[Hh]er|[Tt]heir",
    "of": r"of|for|on|at|in|over at",
    "told": r"(?: (?:that |which )?(?:I|we)(?:'ve| have| had)? (?:gave you|give you|told you|mentioned|have|had|set|chose|picked|use))?",
    "topic": r"[Ff]or|[Aa]bout|[Oo]n|[Rr]egarding|[Aa]s for|[Aa]s to|[Ii]n|[Ww]ith|[Ww]hen it comes to|[Cc]oncerning|[Bb]ack to|[Ss]peaking of|[Aa]t|[Oo]ver at|[Ii]n the case of|[Ww]hat about",
    "begin": r"(?:^|(?<=[:;,—–-] )|(?<=that ))",
    "is": r"(?=(?: (?:now|still|here|then|also))? (?:<link>)\b| ?[:=])",
}


_compile_form = partial(rule, _PARTS)
FORMS = (
    _compile_form(
        r"\b(?:(?!<its>)(?:<the>) <adj>(?P<a><noun>)<told> (?:<of>)|[Aa]n? <adj>(?P<b><noun>) (?:of|for)) <owner>(?!'|\w)"
    ),
    _compile_form(r"(?P<e><name>)(?: (?:<sort>))?'s? <adj>(?P<a><noun>)"),
    _compile_form(
        r"<begin><adj>(?P<a>[a-z][\w-]*(?: (?!<stop>\b)[a-z][\w-]*){0,2}) (?:of|for) <owner><is>"
    ),
    _compile_form(
        r"\b(?:<the>) <adj>(?P<a><noun>) (?:that |which )?<owner> (?:now )?(?:has|have|had|uses|used|runs|gets|got|needs|carries|came with|comes with)\b"
    ),
    _compile_form(
        r"\b(?:<topic>) <owner>(?: project)?[,:—–-]? (?:and )?(?:<the>) <adj>(?P<a><noun>)"
    ),
    _compile_form(r"\b(?:<topic>) <owner>[,:—–-] (?:and )?<adj>(?P<a><noun>)<is>"),
    _compile_form(r"\b(?:[Tt]he|[Oo]ur) <adj>(?P<e><name>) (?:project's |team's )?(?P<a><noun>)"),
    _compile_form(
        r"\b(?:<the>) <adj>(?P<a><noun>) (?:<link>) [^,;]{1,50}[,;–—-]+ ?(?:for|I mean|I'm talking about|talking about|that is|that's for|I mean for) (?P<e><name>)(?=[.!]?$)"
    ),
    _compile_form(
        r"(?P<e><name>)(?: (?:<sort>))? (?:\w+ )?(?:has|have|had|got) (?:no|another|a new|a different) (?P<a><noun>)"
    ),
    _compile_form(r"<begin>(?P<e><name>)(?: (?:<sort>))? ?\((?:the |its )?(?P<a><noun>)<is>"),
    _compile_form(
        r"^(?P<e><name>)(?: (?:<sort>))? ?[-–—:] (?:the|its|his|her|their) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"<begin>(?P<e><name>)(?: (?:<sort>))? ?[-–—:] [^,;]{1,60}? (?:is|as|for) (?:the|its|his|her|their|our) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"(?P<e><name>)(?: (?:<sort>))?(?!,? and\b)[ ,:](?:[^.;]|\.(?=\w)|(?<=[ap]\.m)\.){0,70}?\b(?:as|for|with|and|:|,) (?:<its>) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"(?P<e><name>)(?: (?:<sort>))?(?!,? and\b)[ ,:][^.;]{0,70}?\b(?:<its>) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"(?P<e><name>)(?: (?:<sort>))? (?:now )?(?:has|have|got|gets|had|uses|takes|comes|doesn't|knows|is(?! (?:the|our|now the|now our|also the|still the)\b)|goes|runs|lists|no longer has)\b.{0,60}?\b(?:as the|as a|as|the|a new|their|that|another) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"\b(?:gave|give|[Ee]veryone on|all of|[Rr]un|[Ss]et up) (?P<e><name>)(?: (?:<sort>))? .{0,40}?\b(?:another|its|a new|as) <adj>(?P<a><noun>)"
    ),
    _compile_form(
        r"<begin>(?P<e><name>)(?: (?:<sort>))?, (?:(?:the )?(?P<a><noun>)[,:=] (?=\S)|(?:the|its) <adj>(?P<b><noun>))"
    ),
)
# In these other words may stand between the name and the noun, so an accident is likely.
LOOSE = frozenset(FORMS[-4:])
"""Forms in which only a known attribute makes a subject."""
_AFTER = r"(?= (?:now|on|falls|would be|used to|<link>|I |we |from|to|no |any|always|was|(?:and|but) )\b|'s? | ?[?.:,;=()]|$)"
MY = _compile_form(rf"\b(?:[Mm]y) <adj>(?P<a><noun>(?:'s <noun>)?){_AFTER}")
OURS = _compile_form(
    rf"\b(?:[Oo]ur) <adj>(?P<a><noun>){_AFTER}|\b(?:[Ff]or|[Aa]s) our <adj>(?P<b><noun>)"
)
"""What is said to be ours, whatever it is."""
OUR = _compile_form(
    rf"\b(?:[Tt]he|[Oo]ur) <adj>(?P<a><noun>)(?: (?:of choice|we (?:chose|use|have|picked)|here))?{_AFTER}"
    r"|\b(?:[Ff]or|[Aa]s) (?:the|our|its|a) <adj>(?P<b><noun>)|<begin>(?P<c>[A-Za-z][\w-]*(?: [a-z][\w-]*){0,2})(?= ?:)"
)
