"""Whether a text denies the answer that it gives: beside it, after it, or before it.

A clause is read by its polarity: how many words in it deny (`not`, `never`, `wrong`, `fails`, `I withdraw`), so that "no mistake" and "cannot be
wrong" affirm. A clause that denies counts where it speaks of the answer: in the answer's own sentence whatever its subject, unless that is
another thing ("any other value"); in a later sentence where a word points back ("this", "the result above"); before it where the clause
leads to it ("it is not true that", "a student wrote:") or is its heading.
"""

from __future__ import annotations

import re

from compass.verifier.extracting.announcements import CORRECTED, TAIL, find_announced
from compass.verifier.extracting.boxes import find_boxes
from compass.verifier.extracting.languages import FOREIGN_DENIED, FOREIGN_REJECTED
from compass.verifier.extracting.sentences import DENIED, FORMULA, NUMBER, SENTENCE, YES_OR_NO, find_stated_value
from compass.verifier.verify import verify

REACH = 300
"""Characters before an answer in which its sentence, its heading and the sentence before it are looked for."""

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nor|neither|nobody|no\sone|nowhere|cannot|hardly|scarcely|barely|without|by\sno\smeans|anything\sbut|far\sfrom)\b|n[’']t\b|"
    + FOREIGN_DENIED,
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:wrong(?:ly)?|incorrect(?:ly)?|false(?:ly)?|mistak(?:e|es|en|enly)|erroneous(?:ly)?|errors?(?!\s(?:of|bound|term|bar|margin))|erred|untrue|fault(?:y|s)?|flaw(?:s|ed)?|invalid|inaccurate|inconsistent|incompatible"
    r"|impossible|implausible|absurd|nonsens(?:e|ical)|rubbish|garbage|bogus|misguided|mislead(?:s|ing)|unfounded|unjustified|untenable|unreliable|unsound|spurious|extraneous|slips?|blunder|typo"
    r"|too\s(?:large|small|big|high|low|great|much|many|few|little|long|short|good)|(?:is|was|are|be|looks|seems)\s(?:\w+\s)?off|out\sof\sthe\squestion|fail(?:s|ed|ing|ure)?|contradict(?:s|ed|ing|ion|ory)?|violat(?:e|es|ed|ing|ion)"
    r"|break(?:s|ing)?|overlook(?:s|ed|ing)?|(?:double[\s-]counts?|counts?\s[^,;.]{1,30}\stwice)|miss(?:es|ed)|mis(?:read|count|calculat|comput|understood|took)\w*|clash(?:es)?|conflict(?:s|ing)?|falls?\sshort|refuted?|disprove[sdn]?|disagree"
    r"|doubt(?:s|ful|ed)?|dubious|questionable|sceptical|skeptical|suspect|unsure|uncertain|wonder|fear|afraid"
    r"|withdr[ae]w(?:n|s)?|retract(?:s|ed)?|abandon(?:ed)?|reject(?:s|ed)?|discard(?:ed)?|disregard(?:ed)?|ignored?|forget|scrap(?:ped)?|scratch|strike|delete[d]?|cross(?:ed)?|erased?|revoked?"
    r"|(?:take|took|taking)\s(?:\w+\s){1,4}back|never\smind|counterexample)\b",
    re.IGNORECASE,
)
"""Heads that deny: words for wrong, for failing, for doubt, and for withdrawing."""
_RIGHT = re.compile(
    r"\b(?:right|correct(?:ly)?|true|truth|valid|accurate|answers?|works?|holds?|satisf\w+|possible|fits?|follows?|what|meets?|agrees?|match(?:es)?|checks?|makes?\ssense|adds?\sup|accept\w*"
    r"|justif\w+|reach\w*|trust|believe|think\sso|convinced|confiden\w+|sure|certain|rely|vouch|stands?|count|grade|acceptable|apply|applies|mine|do|writes?|say|conclude|claim)\b",
    re.IGNORECASE,
)
"""What a negation has to rule over to deny an answer: "is not even" says something else of it."""
_NOUN = r"(?:answer|result|value|number|solution|conclusion|claim|statement|total|figure|outcome|reply|response|guess|finding|thought|line|box|calculation|computation|reasoning|work|check|attempt|formula|step)s?"
_POINTER = (
    r"\b(?:this|that|it|these|such|mine|the\sabove|what\s(?:I|we)|everything|my\s(?:\w+\s){0,2}\w+"
    rf"|the\s(?!other|second|next|only|negative)(?:\w+\s){{0,2}}{_NOUN})\b|\bso\W*$"
)
"""What points back to an answer."""
_ANOTHER = re.compile(
    r"\W*(?:since|because|as|whatever)\b|\W*(?:(?:while|whereas|and|so|but|that|where|indeed|here|there)\s)*(?:(?:any|every|all)\s(?:other|\w+er)|most|many|some|few|several|(?:the\s)?others?|another|no|none|nothing|nobody|those"
    r"|people|students|beginners|if|when|had)\b",
    re.IGNORECASE,
)
"""How a clause begins that gives a reason, or speaks of something else than the answer."""
_BACK = re.compile(_POINTER, re.IGNORECASE)
_EXPLETIVE = re.compile(r"\bit(?:'s|\s(?:is|was|would\sbe|can\sbe))\s[^,;.]{2,60}?\sto\s", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;:()—–]|\s-\s|\bthat\s(?=(?:the|an?|any|every|all|no|some|many|other)\b)|\b(?=(?:(?<!anything\s)but|and|though|although|because|since|while|whereas|yet|who|if)\b)",
    re.IGNORECASE,
)
_SAYS = r"(?:says?|said|writes?|wrote|claim(?:s|ed)|believe[ds]|guess(?:es|ed)|suggest(?:s|ed)|answer(?:s|ed)|argue[sd]?|thinks?|thought|put\sdown|told|came\sup)"
_SAID_BESIDE = re.compile(
    rf"^\W*(?:{_SAYS}\s(?!I\b|we\b)|(?:or\s)?(?:so|as)\s(?!I\b|we\b|you\b|one\b)[^,;.]{{2,40}}?\s{_SAYS}\b)",
    re.IGNORECASE,
)
_UNREAL_BESIDE = re.compile(
    r"^\W*(?:(?:but\s)?(?:only\s)?if\b(?!\W*(?:you|needed|preferred|rounded|desired|required|written))[^,;.]*?\b(?:were|was|had|did|would|could|forgot|believed|only|\w{3,}ed)\b|(?:were|had)\s(?:it|we|I|the|there|one)\b"
    r"|(?:provided|supposing|assuming)\b[^,;.]*?\b(?:were|was|had|did|would|could|forgot|\w{3,}ed)\b)",
    re.IGNORECASE,
)
_UNREAL_AFTER = re.compile(
    r"^(?!if\b)(?:[^,;]{0,30}\s)?(?:this|that|it)\swould\s(?:\w+\s)?(?:be\s(?:so|true|right|correct|the\scase)|hold|work)\b|\bwould\s(?:this|that|it)\s(?:\w+\s)?(?:be|hold|work)\b|\b(?:this|that|it)\sassumes\b",
    re.IGNORECASE,
)
_LEADS = re.compile(r"\b(?:that|whether)\b|[:：]", re.IGNORECASE)
"""What leads on to a clause that is said, denied or doubted."""
_FORWARD = re.compile(
    r"\b(?:following|next\s(?:sentence|line|answer|step|statement)|what\s(?:comes|follows)(?:\snext)?|below|pretend|imagine)\b",
    re.IGNORECASE,
)
_OTHERS_SAY = re.compile(
    rf"(?!.*\b(?:problem|question|task|statement|exercise|theorem|rule|formula|definition|hint|text)\b)"
    rf"(?:.*[.,]\s)?(?!I\b|we\b|you\b|let\b)(?:[^.!?,]{{1,60}},?\s(?<!\bI\s)(?<!\bwe\s){_SAYS}\b[^.!?:]{{0,40}}|according\sto\s[^.!?:]{{2,40}}"
    rf"|.*\b(?:answer|guess|reply|attempt|claim|words|thought|response)\s(?:of|by|from)\s[^.!?:\d]{{2,40}})$",
    re.IGNORECASE | re.DOTALL,
)
_SAID_AFTER = re.compile(
    rf"\b(?:that|this|it|those|these)\s(?:is|was|are|were)\s(?:only\s|just\s)?(?:what\s(?!I\b|we\b)[^.]*\b{_SAYS}\b|the\s(?:\w+\s)?(?:words|{_NOUN})\s(?:of|by|from)\b)|^so\s(?!I\b|we\b)[^.,]{{2,30}}\s{_SAYS}\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|had|where|when|once|suppose)\b.*\b(?:were|was|had|did|forgot|would|\w{3,}ed)\b|\bwould\s(?:\w+\s){0,2}$",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:^|\n)\W{0,8}([^\n.!?\d=$\\]{3,60}?)[\s*_:)]*\n\W*\Z")
_QUOTES = re.compile(
    rf"(?:what|how)\s(?!I\b|we\b).*{_SAYS}$|(?!.*\b(?:problem|question|exercise|equation|task)\b).*\b(?:answer|guess|reply|attempt|claim|words|thought|response)\s(?:of|by|from)\s\D*$",
    re.IGNORECASE,
)
"""A heading over what somebody else says."""
_REPLACES = re.compile(
    r"\W*(?:(?:correction|no|nope|sorry|(?:or\s)?rather(?!\sthan)|I\smeant?|make\s(?:that|it)|on\s(?:second|further)\sthought|in\s(?:truth|reality)|where)\b[\W]{0,3}"
    r"(?:(?:it|this|that)\s(?:\w+\s){1,3})?|(?:rather\W*)?(?:which|that|this|it)\s(?:should|must|ought\sto|has\sto|needs\sto)\s(?:be|read)\s"
    r"|the\s(?:right|correct|true|actual|real)\s\w+\s(?:is|was|should\sbe)\s)(?=[-−$\\(]{0,3}(?:[\d\\]|(?-i:[A-Z]\b)|(?<=\$)\w))",
    re.IGNORECASE,
)
"""What opens a value in the place of one that was given."""
_OWNED = re.compile(
    r"(?<!\bif\s)(?<!\bhope\s)(?<!\bunless\s)\bI(?:'ve|\shave)?\s(?:made\s(?:a|an|some|the)\b.{0,20}\b(?:mistake|error|slip)|mis\w+|forgot|dropped|overlooked|missed|mixed\s(?:\w+\s)?up|swapped)\b"
    rf"|{FOREIGN_REJECTED}",
    re.IGNORECASE,
)
"""The writer owns an error."""
_SECOND_LOOK = re.compile(
    r"(?:^|[.!?;:\n]\s{0,3})(?:but\s|no,?\s)?(?:wait|hold on|oops)(?=[,.!?…—–-]|\s(?:no|that|this|I|a (?:sec|moment|minute))\b)"
    r"|\b(?:let me|let's|I(?:'ll|\swill|\sneed to|\shave to|\sshould|\smust))\s(?:re-?(?:do|compute|calculate|think|start|consider|count)|(?:start|begin|try|think)\s(?:over|again))\b",
    re.IGNORECASE,
)
"""The writer looks again, or begins again."""


def is_denied(text: str, start: int, end: int, answer: str) -> bool:
    """Whether a text denies, doubts, withdraws, replaces, only supposes or only quotes the answer that it gives from `start` to `end`, and
    does not come back to it."""
    lead, above, previous = _part_before(text, start, end)
    if _is_denied_before(lead, above, previous):
        return True
    rest = SENTENCE.split(text[end : end + TAIL])[0] or ""
    after = text[end + len(rest) : end + TAIL]
    if _is_denied_beside(rest, answer, lead):
        return not _comes_back(after, answer)
    return takes_back(after, answer, lead)


def takes_back(after: str, answer: str, lead: str = "") -> bool:
    """Whether sentences after an answer deny it, or look at it again, and do not come back to it; its own sentence begins with `lead`."""
    sentences = [part for part in SENTENCE.split(after) if part and part.strip()]
    for at, sentence in enumerate(sentences):
        if _is_denied_by(sentence, answer, lead):
            return not _comes_back("\n".join(sentences[at + 1 :]), answer)
    look = _SECOND_LOOK.search(after)
    return look is not None and not _comes_back(after[look.end() :], answer)


def _comes_back(text: str, answer: str) -> bool:
    """Whether a text states an answer again, or ends in it."""
    value = answer.strip("$ ")
    if value not in text:
        return False
    stated = [one.value for one in find_announced(text)] + [box.content or "" for box in find_boxes(text)]
    stated += [find_stated_value(sentence) or "" for sentence in SENTENCE.split(text) if sentence and value in sentence]
    return any(one and same_answer(answer, one) for one in stated)


def _denies(clause: str) -> bool:
    """Whether the words of a clause deny something, and do not deny that again: "wrong", "not right", but not "no mistake"."""
    negations = list(_NEGATION.finditer(clause))
    if _WRONG.search(clause) is not None:
        return len(negations) % 2 == 0
    return len(negations) % 2 == 1 and _RIGHT.search(clause, negations[0].end()) is not None


def _clauses(sentence: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(sentence) if clause.strip()]


def _find_denials(sentence: str, answer: str = "", lead: str = "") -> list[str]:
    """The clauses that deny, and neither give a reason nor speak of something else, with `this` for the answer and the subject of its sentence."""
    if _WRONG.search(sentence) is None and _NEGATION.search(sentence) is None:
        return []
    clauses = _clauses(_point_back(sentence, answer, lead))
    return [one for one in clauses if _denies(one) and not _ANOTHER.match(one) and not _has_value_first(one)]


def _point_back(sentence: str, answer: str, lead: str) -> str:
    """A sentence with `this` for an answer that it gives again, and for what it is said of: `the sum` after "So the sum is"."""
    if value := re.escape(answer.strip("$* ")):
        sentence = re.sub(rf"(?:\$|\\\(|\*\*)?(?<![\w.]){value}(?!\.?\w)(?:\$|\\\)|\*\*)?", "this", sentence)
    subjects = {word.lower() for word in re.findall(r"[^\W\d_]{3,}", lead)[-6:]}
    return re.sub(r"\b[Tt]he\s(\w+)", lambda named: "this" if named[1].lower() in subjects else named[0], sentence)


def may_deny(sentence: str) -> bool:
    """Whether a sentence may deny something, be it the answer or not: it does, or it negates or corrects without a word for wrong."""
    if _WRONG.search(sentence) is not None:
        return _EXPLETIVE.search(sentence) is None and bool(_find_denials(sentence))
    return DENIED.search(sentence) is not None or CORRECTED.search(sentence) is not None


def _part_before(text: str, start: int, end: int) -> tuple[str, str, str]:
    """The part of an answer's sentence before it, all before that sentence, and the sentence before."""
    low = max(0, start - REACH)
    places = [low, *(found.end() for found in SENTENCE.finditer(text, low, end) if found.end() <= start)]
    previous = text[places[-2] : places[-1]].strip(" .:\n") if len(places) > 1 else ""
    return text[places[-1] : start], text[low : places[-1]], previous


def _is_denied_before(lead: str, above: str, previous: str) -> bool:
    """Whether what leads to an answer denies, doubts, supposes or quotes it: its heading, the sentence before it if that points to what
    follows, and the clause on which its own sentence hangs."""
    heading = _HEADING.search(above)
    if heading is not None and (_denies(heading[1]) or _QUOTES.match(heading[1])):
        return True
    if _FORWARD.search(previous) and (_denies(previous) or _OTHERS_SAY.match(previous)):
        return True
    for leads in _LEADS.finditer(lead):
        governor, led = lead[: leads.start()], lead[leads.end() :]
        if '"' in governor or re.search(r"[.!?]\s|\bbut\b", led):
            continue
        clause = (_clauses(governor) or [""])[-1]
        if _denies(clause) or _SUPPOSED.search(governor):
            return True
        if leads[0] in ":：" and _OTHERS_SAY.match(governor.strip(" *#")):
            return True
    return False


def _is_denied_beside(rest: str, answer: str, lead: str) -> bool:
    """Whether the rest of an answer's own sentence denies it; what follows a yes or no is what it speaks of."""
    if YES_OR_NO.fullmatch(answer.strip(" .")):
        return False
    if _UNREAL_BESIDE.match(rest) or _replaces(rest, answer):
        return True
    clauses = _clauses(rest)
    if _find_denials(rest, answer, lead) or any(map(_UNREAL_BESIDE.match, clauses)):
        return True
    if any(_SAID_BESIDE.match(clause) for clause in clauses if not _ANOTHER.match(clause)):
        return True
    return any(_replaces(clause, answer) for clause in re.split(r"[,;(—–]|\s-\s", rest)[1:])


def _is_denied_by(sentence: str, answer: str, lead: str) -> bool:
    """Whether a later sentence that points back to an answer denies it."""
    if (
        _OWNED.search(sentence)
        or _WRONG.fullmatch(sentence.strip(" .!*").removeprefix("A "))
        or _replaces(sentence, answer)
    ):
        return True
    if _EXPLETIVE.search(sentence) or YES_OR_NO.fullmatch(answer.strip(" .")):
        return False
    if _UNREAL_AFTER.search(sentence) or _SAID_AFTER.search(sentence):
        return True
    return any(map(_BACK.search, _find_denials(sentence, answer, lead)))


def _has_value_first(clause: str) -> bool:
    """Whether a clause speaks of another value: it has one before the head that denies."""
    head = _WRONG.search(clause) or _NEGATION.search(clause)
    return head is not None and re.search(r"[\d$\\]", clause[: head.start()]) is not None


def _replaces(text: str, answer: str) -> bool:
    """Whether a text puts another value in an answer's place: "no, 9", "it should be 9"."""
    opening = _REPLACES.match(text)
    if opening is None or not (NUMBER.search(text, opening.end()) or FORMULA.search(text, opening.end())):
        return False
    other = find_stated_value(text[opening.end() :])
    return other is not None and not same_answer(answer, other)


def same_answer(one: str, other: str) -> bool:
    """Whether two answers of one response are equal, whichever is taken for the gold."""
    return one == other or verify(gold=one, answer=other).equal or verify(gold=other, answer=one).equal
