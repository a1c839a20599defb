"""Whether a text denies the answer that it gives: beside it, after it, or before it.

A clause is read by its polarity: how many words in it deny (`not`, `never`, `wrong`, `fails`, `I withdraw`), so that "no mistake" and "cannot be
wrong" affirm. A clause that denies counts where it speaks of the answer: in the answer's own sentence whatever its subject, unless that is
another thing ("any other value"); in a later sentence where a word points back ("this", "the result above"); before it where the clause
leads to it ("it is not true that", "a student wrote:") or is its heading.

Not said of the answer, and so no denial: a word for wrong before another noun ("false coins"), what is said of another value or option, a
question, a general statement ("often overlooked"), and, where the problem itself has such words, all but what names the answer.
"""

from __future__ import annotations

import re

from compass.verifier.extracting.announcements import CORRECTED, TAIL, find_announced
from compass.verifier.extracting.boxes import DENIES_NEXT, find_boxes
from compass.verifier.extracting.languages import FOREIGN_DENIED, FOREIGN_REJECTED
from compass.verifier.extracting.sentences import DENIED, FORMULA, NUMBER, SENTENCE, YES_OR_NO, find_stated_value
from compass.verifier.verify import verify

REACH = 300
"""Characters before an answer in which its sentence, its heading and the sentence before it are looked for."""

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nor|neither|nobody|no\sone|nowhere|cannot|hardly|scarcely|barely|without|by\sno\smeans|anything\sbut|far\sfrom"
    r"|(?<!to\s)avoid\w*|prevent\w*|fix(?:es|ed|ing)?|correct(?:s|ed|ing)|remov\w+|eliminat\w+|differs?\sfrom|different\sfrom|unlike|despite)\b|n[’']t\b|"
    + FOREIGN_DENIED,
    re.IGNORECASE,
)
_NOUN = r"(?:answer|result|value|number|solution|conclusion|claim|statement|total|figure|outcome|reply|response|guess|finding|thought|line|box|calculation|computation|reasoning|work|check|attempt|formula|step|argument|verification)s?"
_OF_ANOTHER = (
    rf"(?!\s(?!(?:\w+\s)?{_NOUN}\b|(?:a|an|and|any|are|as|at|after|again|also|anyway|because|before|but|by|either|for|from|given|he|here|how|I|if|in|indeed|is|it|now|of|on|one|or|since|so|that|the|then|there|though|under|until"
    r"|they|this|to|too|unless|was|we|when|where|which|while|with|you)\b|\w+ly\b)[a-z])"
)
"""What may not follow an adjective that denies: the noun of another thing, as in "false coins", "the wrong envelope"."""
_WRONG = re.compile(
    rf"\b(?:(?:wrong|incorrect|false|erroneous|faulty|invalid|impossible|extraneous|spurious|contradictory){_OF_ANOTHER}|(?:wrong|incorrect|false|erroneous)ly|mistak(?:e|es|en|enly)|errors?(?!\s(?:of|bound|term|bar|margin))|erred|untrue|faults?|flaw(?:s|ed)?|inaccurate|inconsistent|incompatible"
    r"|implausible|absurd|nonsens(?:e|ical)|rubbish|garbage|bogus|misguided|mislead(?:s|ing)|unfounded|unjustified|untenable|unreliable|unsound|slips?|blunder|typo"
    r"|too\s(?:large|small|big|high|low|great|much|many|few|little|long|short|good)|(?:is|was|are|be|looks|seems)\s(?:\w+\s)?off|out\sof\sthe\squestion|fail(?:s|ed|ing|ure)?|contradict(?:s|ed|ing|ion)?|violat(?:e|es|ed|ing|ion)"
    r"|break(?:s|ing)?|overlook(?:s|ed|ing)?|(?:double[\s-]counts?|counts?\s[^,;.]{1,30}\stwice)|miss(?:es|ed)|mis(?:read|count|calculat|comput|understood|took)\w*|clash(?:es)?|conflict(?:s|ing)?|falls?\sshort|refuted?|disprove[sdn]?|disagree"
    r"|doubt(?:s|ful|ed)?|dubious|questionable|sceptical|skeptical|suspect|unsure|uncertain|wonder|fear|afraid"
    r"|withdr[ae]w(?:n|s)?|retract(?:s|ed)?|abandon(?:ed)?|reject(?:s|ed)?|discard(?:ed)?|disregard(?:ed)?|ignored?|forget|scrap(?:ped)?|scratch|strike|delete[d]?|cross(?:ed)?|erased?|revoked?"
    r"|(?:take|took|taking)\s(?:\w+\s){1,4}back|never\smind|counterexample)\b",
    re.IGNORECASE,
)
"""Heads that deny: words for wrong, for failing, for doubt, and for withdrawing."""
_UNTRUE = re.compile("wrong|incorrect|false")
_RIGHT = re.compile(
    r"\b(?:right|correct(?:ly)?|true|truth|valid|accurate|answers?|works?|holds?|satisf\w+|possible|fits?|follows?|what|meets?|agrees?|match(?:es)?|checks?|makes?\ssense|adds?\sup|accept\w*"
    rf"|the\s(?:\w+\s)?{_NOUN}|justif\w+|reach\w*|trust|believe|think\sso|convinced|confiden\w+|sure|certain|rely|vouch|stands?|count|grade|this|acceptable|apply|applies|mine|do|writes?|say|conclude|claim)\b",
    re.IGNORECASE,
)
"""What a negation has to rule over to deny an answer: "is not even" says something else of it."""
_POINTER = (
    r"\b(?:this|that(?=\W*$|\W*[,.;:!?’']|\s(?:\w+ly\s)?(?:is|was|isn|wasn|can|could|may|might|must|seems?|looks?|does|did|doesn|didn|won|has|cannot|never|hardly|rests|leads|comes|turn\w*|counts|misses|breaks|overlooks|falls|fails?|contradicts|violates|clashes|conflicts|out|back)\b"
    rf"|\s(?:\w+\s)?{_NOUN}\b)|it|these|such|mine|the\sabove|what\s(?:I|we)|everything|my\s(?:\w+\s){{0,2}}\w+"
    rf"|the\s(?!other|second|next|only|negative)(?:\w+\s){{0,2}}{_NOUN})\b|\bso\W*$|^\W*verification\b"
)
"""What points back to an answer."""
_ANOTHER = re.compile(
    r"\W*(?:since|because|as|whatever)\b|\W*(?:(?:while|whereas|even|though|although|and|so|but|that|where|indeed|here|there)\s)*(?:(?:any|every|all)\s(?:other|\w+er)|most|many|some|few|several|(?:the\s)?others?|another|no|none|nothing|nobody|those|there\s(?:is|are|was|were)\sno\s(?!way|chance)"
    r"|people|students|beginners|if|when|had|suppose|assume|assuming|(?:the|this|our|your)\s(?:problem|question|exercise|task)|(?:we|I|one|you)\s(?:must\s|can\s|may\s)?"
    rf"(?:(?:re|dis)\w+|ignored?|overlook)\s(?:the|a|an|all|any|\w\b)\s?(?!\w*\s?(?:{_NOUN}(?!\s[\d$])|above|last|previous)\b)|of)\b"
    r"|.*\b(?:this|that|it|which)\swould\s(?:not\s)?(?:be|have|contradict|give|mean|lead)\b|.*\b(?:often|easily|commonly|usually|typically|frequently|sometimes|easy)\b"
    r"|.*\b(?:my|our|the|an)\s(?:very\s)?(?:first|earlier|initial|original)\s(?:\w+\s)?(?:attempt|try|approach|method|calculation|computation)|\W*(?:even\s)?(?:though|although)\s.*\b(?:may|might|looks?|seems?)\b",
    re.IGNORECASE,
)
"""A clause that gives a reason, concedes, speaks in general or of what would be, or of something else than the answer: another value, the
problem, an earlier try, a thing that somebody rejects."""
_BACK = re.compile(_POINTER, re.IGNORECASE)
_EXPLETIVE = re.compile(r"\bit(?:'s|\s(?:is|was|(?:would|can)\s(?:not\s)?be))\s[^,;.]{2,60}?\sto\s", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[,;:()—–]|\s-\s|\bthat\s(?=(?:the|an?|any|every|all|no|some|many|other)\b)|\b(?=(?:(?<!anything\s)but|and|though|although|because|since|while|whereas|yet|who|where|if)\b)",
    re.IGNORECASE,
)
_SAYS = r"(?:says?|said|writes?|wrote|claim(?:s|ed)|believe[ds]|guess(?:es|ed)|suggest(?:s|ed)|answered|argue[sd]?|thinks?|thought|put\sdown|told|came\sup)"
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
_NAMES_WRONG = re.compile(
    rf"\W*(?:(?:do\s)?not\b|(?:here\sis\s)?(?:(?!is\b|was\b|are\b)[^\W\d]['’\w]*\s){{0,3}}?{_WRONG.pattern}(?:\sout|\sto\s\w+)?(?:\s(?:\w+\s)?{_NOUN}\b.*)?\W*$)",
    re.IGNORECASE | re.DOTALL,
)
"""A heading, or what leads to a colon, that names an answer which is wrong: "Wrong", "A common wrong answer"."""
_SAYS_WRONG = re.compile(
    r"\b(?:say|write|conclude|claim|answer|think|believe|this|here\sit\sis|not)\W*$", re.IGNORECASE
)
"""How a clause ends that leads to what it denies: "it is wrong to say:"."""
_WRONG_SUBJECT = re.compile(
    rf"\b(?:an?|the|another|one)\s(?:\w+\s)?{_WRONG.pattern}\s(?:{_NOUN}\s(?:is|was|would\sbe)\W*)?$", re.IGNORECASE
)
"""A wrong answer as the subject of an answer's sentence."""
_AFFIRMS = re.compile(r"\b(?:is|was)\s(?:\w+\s)?(?:right|correct|true|fine|valid)\b", re.IGNORECASE)
_ELIDED = re.compile(
    r"\W*(?:(?:and|or|but|so)\s(?:(?!this|that|it|which)\w+\s)?)?(?:must|should|can|is|are|was|were|has|have|does|do|cannot|fails?|contradicts?)\b",
    re.IGNORECASE,
)
"""A clause that goes on with the subject of the one before it."""
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
    rf"\b(?:that|this|it|those|these)\s(?:is|was|are|were)\s(?:only\s|just\s)?(?:what\s(?!I\b|we\b)[^.]*\b{_SAYS}\b|the\s(?:\w+\s)?(?:words|{_NOUN})\s(?:by|from|of\s(?:an?|my|one|some\w*|another|the\s(?:other|first|second)|(?-i:[A-Z])\w+))\b)|^so\s(?!I\b|we\b)[^.,]{{2,30}}\s{_SAYS}\b",
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
    rf"|\bI\s(?:can['’]?t|cannot|can\snot)\s(?:decide|choose)\b"
    rf"|{FOREIGN_REJECTED}",
    re.IGNORECASE,
)
"""The writer owns an error, or is undecided."""
_SECOND_LOOK = re.compile(
    r"(?:^|[.!?;:\n]\s{0,3})(?:but\s|no,?\s)?(?:wait|hold on|oops)(?=[,.!?…—–-]|\s(?:no|that|this|I|a (?:sec|moment|minute))\b)"
    r"|\b(?:let me|let's|I(?:'ll|\swill|\sneed to|\shave to|\sshould|\smust))\s(?:re-?(?:do|compute|calculate|think|start|consider|count)|(?:start|begin|try|think)\s(?:over|again))\b",
    re.IGNORECASE,
)
"""The writer looks again, or begins again."""


_BRACKET = re.compile(r"[ \t]*\((?=[a-z])[^()\n]{1,120}\)")
"""Words in brackets, which belong to the sentence that ends before them."""
_FORMULA_END = re.compile(r"\${1,2}|\\[)\]]")
"""What closes the formula in which an answer stands."""


def is_denied(text: str, start: int, end: int, answer: str, question: str | None) -> bool:
    """Whether a text denies, doubts, withdraws, replaces, only supposes or only quotes the answer that it gives from `start` to `end`, and
    does not come back to it. Words for wrong that the question is about, such as its false coins, deny only "this answer" and its like."""
    low = max(0, start - REACH)
    text, start, end = _hide_topic(text[low : end + TAIL], question or ""), start - low, end - low
    closes = _FORMULA_END.match(text, end)
    end = end if closes is None else closes.end()
    lead, above, previous = _part_before(text, start, end)
    if _is_denied_before(lead, above, previous):
        return True
    rest = SENTENCE.split(text[end : end + TAIL])[0] or ""
    if (bracket := _BRACKET.match(text, end + len(rest))) is not None:
        rest += bracket[0]
    after = text[end + len(rest) : end + TAIL]
    if _is_denied_beside(rest, answer, lead):
        return not _comes_back(after, answer)
    return takes_back(after, answer, lead)


def _hide_topic(text: str, question: str) -> str:
    """A text, as long as before, without the words for wrong that its question has, except where they are said of "this answer" and its like."""
    topic = {found[0].lower() for found in _WRONG.finditer(question)} | set(_UNTRUE.findall(question.lower()))
    if not topic:
        return text
    words = "|".join(map(re.escape, sorted(topic))) + (
        f"|{_UNTRUE.pattern}" if any(map(_UNTRUE.fullmatch, topic)) else ""
    )
    return re.sub(
        rf"\b((?:this|that|the|my)\s(?:\w+\s)?(?:answer|result|value|total|solution)\b[^,.;:\n]{{0,20}}?)?\b(?:{words})\b",
        lambda found: found[0] if found[1] else "_" * len(found[0]),
        text,
        flags=re.IGNORECASE,
    )


def takes_back(after: str, answer: str, lead: str = "") -> bool:
    """Whether sentences after an answer deny it, or look at it again, and do not come back to it; its own sentence begins with `lead`."""
    sentences = [part for part in SENTENCE.split(after) if part and part.strip()]
    for at, sentence in enumerate(sentences):
        names_it = (
            _OWNED.search(sentence) or re.search(r"\bmy\b", sentence, re.IGNORECASE) or answer.strip("$* ") in sentence
        )
        if at and not names_it and _speaks_of_other(sentences[at - 1], answer):
            continue
        if _is_denied_by(sentence, answer, lead):
            return not _comes_back("\n".join(sentences[at + 1 :]), answer)
    look = _SECOND_LOOK.search(after)
    return look is not None and not _comes_back(after[look.end() :], answer)


def _speaks_of_other(sentence: str, answer: str) -> bool:
    """Whether a sentence speaks of another value or of a mistake in general, so that "this is wrong" after it means that."""
    value = answer.strip("$* ")
    if _ANOTHER.match(sentence.rpartition(":")[2]) or (re.search(r"[\d$\\]", sentence) and value not in sentence):
        return True
    return _denies(sentence) and _BACK.search(sentence) is None


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
    if len(negations) % 2 == 0:
        return False
    end = negations[0].end()
    is_short = not clause[end:].strip(" .!") and re.match(r"\W*(?:but\s)?(?:it|this|that)\b", clause) is not None
    return is_short or _RIGHT.search(clause, end) is not None


def _clauses(sentence: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(sentence) if clause.strip()]


def _find_denials(sentence: str, answer: str = "", lead: str = "") -> list[str]:
    """The clauses that deny, and neither give a reason nor speak of something else, with `this` for the answer and the subject of its sentence;
    none where a later clause affirms it."""
    if _WRONG.search(sentence) is None and _NEGATION.search(sentence) is None:
        return []
    found: list[str] = []
    is_other = False
    for clause in _clauses(_point_back(sentence, answer, lead)):
        is_other = (
            bool(_ANOTHER.match(clause)) or _has_value_first(clause) or (is_other and bool(_ELIDED.match(clause)))
        )
        if _AFFIRMS.search(clause) and not _NEGATION.search(clause):
            found.clear()
        elif not is_other and _denies(clause):
            found.append(clause)
    return found


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
    if heading is not None and ((_denies(heading[1]) and _NAMES_WRONG.match(heading[1])) or _QUOTES.match(heading[1])):
        return True
    if _WRONG_SUBJECT.search(lead) or DENIES_NEXT.search(lead):
        return True
    if _FORWARD.search(previous) and (_denies(previous) or _OTHERS_SAY.match(previous)):
        return True
    for leads in _LEADS.finditer(lead):
        governor, led = lead[: leads.start()], lead[leads.end() :]
        is_colon = leads[0] in ":："
        if '"' in governor or re.search(r"[.!?]\s|\bbut\b" if is_colon else r"[.!?]\s|\bbut\b|[:;]", led):
            continue
        clause = (_clauses(governor) or [""])[-1]
        names = not is_colon or any(one.search(clause) for one in (_SAYS_WRONG, _FORWARD)) or _NAMES_WRONG.match(clause)
        if (names and _denies(clause)) or _SUPPOSED.search(governor):
            return True
        if is_colon and _OTHERS_SAY.match(governor.strip(" *#")):
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
    if sentence.rstrip().endswith("?") or _EXPLETIVE.search(sentence) or YES_OR_NO.fullmatch(answer.strip(" .")):
        return False
    if _UNREAL_AFTER.search(sentence) or _SAID_AFTER.search(sentence):
        return True
    return any(map(_BACK.search, _find_denials(sentence, answer, lead)))


def _has_value_first(clause: str) -> bool:
    """Whether a clause speaks of another value or option: it has one, before the head that denies if it has a head."""
    head = _WRONG.search(clause) or _NEGATION.search(clause)
    return (
        re.search(r"[\d$\\]|\([A-H]\)|(?<!\w)[B-H](?![\w'’])", clause[: head.start()] if head else clause) is not None
    )


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
