"""The value of a sentence: what one that announces or states an answer gives, and the last value of a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from compass.verifier.answer_type import answer_type
from compass.verifier.extracting.languages import (
    FOREIGN_ANNOUNCED,
    FOREIGN_DENIED,
    FOREIGN_HEDGED,
    FOREIGN_HOW_MANY,
    VERBS,
)
from compass.verifier.extracting.plain_formulas import (
    CHANGING,
    FUNCTIONS,
    changes_next,
    find_beginning,
    find_scale,
    find_whole_value,
    is_changed_after,
)
from compass.verifier.reading.normalise import CHINESE
from compass.verifier.reading.numbers import FRACTIONS, MULTIPLES, write_numbers
from compass.verifier.reading.words import SYNONYMS

FORMULA = re.compile(r"\$\$(.{1,600}?)\$\$|\$(.{1,600}?)\$|\\\((.{1,600}?)\\\)|\\\[(.{1,600}?)\\\]", re.DOTALL)
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_\u00c0-\u04ff.,/])[-+−]?(?:\\?[$€£¥])?(?:\d{1,4}\s\d{1,3}[/⁄]\d{1,3}|\d{0,4}[⁰¹²³⁴-⁹]{1,3}⁄[₀-₉]{1,3}|\d{1,3}(?:\.\d{3}){1,9},\d{1,9}(?![\d,])|\d[\d,]*(?:[.:]\d+)?(?:\s?[/⁄]\s?\d+)?[½⅓⅔¼¾⅕⅛⅜⅝⅞]?|[½⅓⅔¼¾⅕⅛⅜⅝⅞])(?!\d*(?:st|nd|rd|th)\b)(?:\s?\\?%|°|\s?[ap](?:\.m\b\.?|m\b)|\s?(?:pi\b|π)"
    r"|\s?(?:[kMGmnpµμ](?:J|Wh?|Hz|V|A|g|m|L|N|Pa|eV|s|mol)|[cd][mL])(?![\w^²³/·⋅*]))?"
)
"""A number with its sign of percent, degree or currency, its half of the day, or a unit whose prefix scales it."""
PRICE = re.compile(r"\$(?=\d[\d,.]*(?:[\s*|)]|$))|(?<=\d)\s?\$(?=[\s.,;!?]|$)")
AMOUNT = re.compile(r"(?<![\w$\\])\$(?=\d[\d,]*(?:\.\d\d?)?[\s|*).,;!?])(?![^$\n]{0,60}\$(?!\d))")
"""A dollar sign before an amount, which closes no formula."""
DENIED = re.compile(
    r"\b(?:not|never|no\slonger|neither|nor|cannot|can't|isn't|doesn't|aren't|wasn't|won't|fail(?:s|ed)?|wrong|incorrect|impossible that|suppose|assume|if|unless|whatever)\b|"
    + FOREIGN_DENIED,
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|probably|might|could be|may be|not sure|unsure|uncertain|guess|between\s+[-−$\\\d]|somewhere"
    r"|(?:less|greater|more|fewer|larger|smaller|higher|lower) than|at (?:most|least)|(?<!add )(?<!adds )(?<!adding )(?<!sum )(?<!sums )up to|one of|any of|whatever|something like)\b|"
    + FOREIGN_HEDGED,
    re.IGNORECASE,
)
_AND = r"(?:\s*[,;、]\s*(?:and\s+|y\s+|et\s+|und\s+)?|\s+(?:and|&|y|et|und)\s+|\s*[和及与]\s*)"
_CHOICES = rf"(?:\([A-J]\)|[A-J])(?:{_AND}(?:\([A-J]\)|[A-J])(?![\w']))+"
"""Several choices: `(A), (C) and (D)`, `A and C`."""
_EXPLAINED = re.compile(
    r"(?<=[\w$%.*!)])(?:\s{1,2}\(|（)(?!or\s(?:possibly|perhaps|maybe|it\s(?:may|might|could))\b)(?=[^()（）]*[^\W\d_]{2}|\s?(?:≈|~|\$?\\approx)|\d[\d.,]*\s[-+*/×·÷−])(?![^()]*\bmod\b)(?:[^()（）$\\]|\$[^$]{1,200}\$)*[)）](?=\W*$)"
    r"|(?<=\w)\s\((?=\s?(?:≈|[^\W\d_]{2,}[\s,]))(?![^()]*\bmod\b)(?:[^()$\\]|\$[^$]{1,200}\$)*\)(?=[\s,])"
)
"""Words in brackets after a value, or within a sentence: "44.1 m (about 44 m)"."""
_LETTERS = re.compile(rf"^\W{{0,4}}?(?:(?i:both|options?|choices?)\s)*({_CHOICES})(?!\s?[-+*/^_=(\[{{\\<>])")
DANGLING = re.compile(r"(?<![\w$\\])(?:the|an?|and|or|of|is|are|to|in|with|for|then|so|that|by|from|as|we|if|but)\s*$")
"""A last word after which something is missing."""
_GOES_ON = re.compile(
    r"[\w(^]|\s?[:+*/^=·×÷⋅−-]\s?[\w$(]|,?\s(?:that\sis|i\.e\.|or|which\sis|namely)[\s,]|,?\sand\s(?:\w+\s=\s)?[$\\\d-]|,\s[$\\\d-]"
)
_IF = re.compile(r"\b(?:if|when|suppose|assuming)\b", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:other|remaining|rest(?:\sof\sthe)?)\s$", re.IGNORECASE)
_HAS_VALUE = r"[^.;:,$\d=]{0,60}?(?:\b(?:is|are|was|equals|becomes|comes\sto)|=)\s(?:(?:therefore|thus|then|hence|so|also|exactly|simply|just|equal\sto|now)\s)?(?=[-−$\\\d])"
_LETTER_VALUE = re.compile(
    r"(?<![A-Za-z\\])([a-z])\s?=\s?(?:[^=,;$\n.A-Za-z]{1,40}=\s?)?(-?(?:\d[\d.]*\d|\d)(?:/\d+)?|-?\\[dt]?frac\{\d+\}\{\d+\})(?![\d\w(+*^/\\-])(?!\s?[-+*/^=])"
)
_TABLE_ROW = re.compile(r"^\s*\|\s*\$?([a-z])\$?\s*\|\s*\$?(-?\d[\d./]*)\$?\s*\|\s*$", re.MULTILINE)
"""An unknown and its value as a row of a table."""
_SPOKEN = re.compile(r"(?:(?<=[\d)])|(?<=\b[a-z]))\s(plus|minus)\s(?=[\d(])")
"""A sign in words between two numbers."""
_SIGN_WORD = re.compile(r"(?<![\d)}$]\s)(?<!\b[A-Za-z]\s)\b(?:minus|negative)\s(?=\\?\$?\d)")
"""A sign in words before a number."""
_MATH_WORD = re.compile(rf"(?<![A-Za-z\\])(?:{FUNCTIONS}(?=\s?\()|pi(?![A-Za-z]))")
"""A name of a function or of a constant in plain text."""
_RESTATED = re.compile(
    r"(?<=[\w})%$])\s?,?\s(?:(?:or|that\sis,?|i\.e\.,?)\s(?:about|approximately|roughly|around|nearly)|in\sother\swords,?)\s[^,;]*$"
)
"""What rounds a value that was just stated, or says it in another way: "1/6, or about 16.7%"."""
_COMPARES = re.compile(r"\b(?:is|are|was|were)\s(?:\w+\s)?(?!other\b)\w{3,}er\sthan\s\$?[-−]?\d")
"""A comparison with a number, of which either may be meant: "9.9 is bigger than 9.11"."""
_COUNTED_WORDS = re.compile(r"(?:\s{1,3}[^\W\d_]+(?:-[^\W\d_]+)?){1,3}")
_GIVES_NAME = re.compile(r"\b(?:is|was|be|on|falls\son|lands\son)\s(?:an?\s)?$")
EVERY = re.compile(
    r"\b(?:is|are|be|holds\s(?:exactly\s|precisely\s)?for)\s(?:therefore\s|thus\s|then\s|hence\s)?((?:the set of\s)?(?:all|every|any)\s(?:real|values?|numbers?|integers?|whole|natural|positive|negative|non-?\w+)\b[^.!?]*)[.!]?$",
    re.IGNORECASE,
)
"""A set in words that ends a sentence: "the domain is all real x that are at most 4"."""
_RANKED = re.compile(
    r"(?:^|,\s(?:and\s)?|\b(?:so|thus|hence|therefore|that)\s)(\$[^$]{1,200}\$|[-−]?\d[\d./^,]*|[A-Z])\sis\s(?:(?:the\s)?(?:\w{2,}(?:er|est)|more|less|most|least|correct)|what)\b(?!\sthan)[^$\d]*$",
    re.IGNORECASE,
)
"""What a sentence ranks before others: "$3^{40}$ is the larger of the two"."""
_EITHER_LETTER = re.compile(
    r"^\W{0,4}(?:\(?[A-J]\)?\s{0,3}(?:or|oder|ou|o)\s{0,3}\(?[A-J]\b\)?|\([A-J]\)[^.;\n]{0,40}?\sor\s\([A-J]\)[^.;\n]{0,40})"
)
"""Two choices, with or without their values, of which one is the answer."""
_CONTRAST = re.compile(
    r"(?:,|\sand|\sbut|\swhile)\s+(?:not\s[^,;]{1,40}|[^;$\d]{1,40}\s(?:is|are|was|were|do|does)(?:\snot|n't)\W*)$",
    re.IGNORECASE,
)
"""What an answer is not, said after what it is: "odd and not even"."""
_LETTER = re.compile(
    r"^\W{0,4}\(?([A-J])\)?(?!\W{1,4}(?:or|oder|ou|o)\s)(?:[.:)]|\W*$|\)\s|[*_]{0,2}\s(?:—|[–-](?=\s(?:[^\W\d_]{2}|\$))))"
)
_OPTION = re.compile(
    rf"\b(?:answer|option|choice|correct)s?\b.{{0,40}}?(?<![A-Za-z])({_CHOICES})|(?<![\w$\\(])\(?([A-J])\)?\sis\s(?:the\s)?(?:right|correct)\b|"
    r"\b(?:answer|option|choice|correct)\b.{0,40}?(?<![A-Za-z])(?:\(([A-J])\)|(?<![-+*/^_=(){}\\,])\b(?-i:([B-J]))\b(?!\s?[-+*/^_=(\[{\\<>!$}]))",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(r"^\W{0,3}not\s[^,;]{1,40}?,?\sbut\s(?:rather\s|instead\s)?(?=\S)", re.IGNORECASE)
"""What an answer is not, before what it is: "not 3 but 4"."""
CHOSEN = re.compile(
    r"\b(?:I|we|I'd|I'll|I’ll|I’d)\s(?:would\s|will\s|'ll\s)?(?:choose|pick|select|take|go\swith|opt\sfor)\s(?:(?:option|choice|answer)\s)?\(?(?-i:([A-J]))(?![\w'])\)?",
    re.IGNORECASE,
)
"""A choice that is made in the first person: "I choose (D)"."""
COMPOUND = re.compile(
    r"\d[\d.]*\s(?:days?|hours?|minutes?|feet|foot|pounds?|weeks?|years?|degrees?)(?:,|\sand|,\sand)?\s\d[\d.]*\s(?:hours?|minutes?|seconds?|inch(?:es)?|ounces?|days?|months?)\b"
)
"""A measure in two units: "4 hours and 30 minutes"."""
_CONJUNCTION = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|and|we\s(?:get|have|find|know)|that|indeed|exactly|simply|just|equal to|really|now|therefore,|given by|donc|alors|de|égale? à|por lo tanto|entonces|igual a|also|gleich|综上|所以|因此|故|∴|⇒|→|\\therefore)(?![a-z])[\s,:，：]*|=>?\s*)+",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_VERB = re.compile(rf"(?<!\w)(?:{VERBS}|be)(?!\w)|=|:\s|[是为]", re.IGNORECASE)
_VERB_ALONE = re.compile(rf"(?<!\w)(?:{VERBS})(?!\w):?")
_LEADS = re.compile(
    r"(?:\b(?:is|are|be|equals?|gives?|get|at|to|of|has|have|total(?:s|ing)?|needs?|makes?|was|costs?|takes?|only|exactly|value|answer|sum)|[=:≈])\s*$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[,;]?\s+(?:because|since|as\s(?:we|it|the)|which|where|so that|for all|when|i\.e\.|that is)\b.*|[,;]\s+(?:and|so)\s+(?:we|it|this|that|the)\b.*|\s*[（(](?:since|because|as)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_RELATIVE = re.compile(
    r"(?<![\d,.])\d[\d,.]{0,30}\s{1,3}(?:\w{1,30}\s{1,3})?(?:more|less|fewer|greater|larger|smaller|higher|lower|times)\b",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"[^\d$\\]*\d[\d,.]*\s(?:\w+\s)?(?:more|less|fewer|older|younger)\b[^\d$\\]*\sthan\b[^\d$\\]*", re.IGNORECASE
)
"""A sentence that states nothing but a difference: "so Kai has 28 more shells than Ida"."""
_WHICH_NOT = re.compile(r"\b(?:who|that|which)\s(?:do|does|did|are|is|were|was|have|has)(?:\snot|n't)\b", re.IGNORECASE)
"""What a clause says of the things counted: "16 pupils who do not take the bus"."""
_POSSIBLE_SUBJECT = re.compile(
    r"\b(?:maximum|minimum|most|least|largest|smallest|greatest|fewest|highest|lowest)\b[^.;,]{1,120}?\b(?:that|which|who)\s(?:could|might|may)\sbe\b(?=[^.;,]*\bis\b)",
    re.IGNORECASE,
)
"""A subject that speaks of what is possible: "the most points that could be chosen is 19" is sure of its 19."""
_NAMED = re.compile(r"((?:[A-Za-z]|\\[a-z]{2,9})(?:_\{?\w+\}?)?)\s*=[^=]+")
_NAMED_VALUES = re.compile(
    r"(?:^|[:\s*])((?:[A-Za-z]\s?=\s?[-−]?\d+(?:[./]\d+)?(?:,\s|\sand\s)){1,4}[A-Za-z]\s?=\s?[-−]?\d+(?:[./]\d+)?)[.\s*]*$"
)
"""Values with their names in plain text, at the end: `x = 4, y = 3`."""
_INEQUALITY = re.compile(
    r"^[^\d<>≤≥]*\b(?:is|are|get|gives|have)\s([-−\d./√π()\s]*[<>≤≥]\s?[A-Za-z]\s?(?:[<>≤≥][-−\d./√π()\s]*)?|[A-Za-z]\s?[<>≤≥][-−\d./√π()\s]+)[.\s*]*$"
)
"""An inequality in plain text, at the end: `-5 ≤ x < -2`."""
_CONCLUDED = re.compile(
    r"[,;:]\s{1,3}(?:so|hence|thus|therefore)[\s,:]{1,3}(?:(?:I|we)\s(?:think|believe|conclude|choose|pick)\s(?:that\s)?)?(?:it\sis\s|it's\s)?(\$[^$]{1,200}\$|[-−]?\d[\d,./]{0,20}|[A-J](?![A-Za-z]))[.\s]{0,3}$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\u4e00-\u9fff]|(?<![A-Za-z\\])(?!(?:and|or)\b)[A-Za-z]{2,}")
_COUNTED = re.compile(
    rf"(\$?[-−]?\d[\d,]*(?:\.\d+)?(?:\s?[€£¥])?)\s(?!(?:{'|'.join([*MULTIPLES, *FRACTIONS])}|times|plus|minus|more|less|or|and|to|of(?!\s(?:them|these|those)\b)|out|squared|cubed|pi)\b)"
    r"(?:[A-Za-z][A-Za-z-]+[\s.]*){1,8}"
)
"""A number, and words for what it counts that name no unit: `24 odd integers`, `24 years old`, `24 in total`."""
_AFTER_LABEL = re.compile(
    r"\**(?:(?:solution|domain|range|interval)s?(?:\sset)?)\b(?:\s[^\W\d_]+){0,2}:\**\s([^:$A-Za-z]*[A-Za-z]?\s?[∈=<>≤≥][^:$A-Za-z]*)",
    re.IGNORECASE,
)
"""A statement in signs alone after a name for it: `Solution set: x ∈ (2, 3]`."""
_LABELLED = re.compile(r"[A-Za-z_][\w ]{1,30}:\s{1,3}(\S[^:]*)")
"""A value with its name, as YAML has it: `slope: 3`."""
_QUOTED = re.compile(r'(?:\\"|["“])([^"“”]*?)(?:\\"|["”])')
_SO = re.compile(r"(?:所以|因此|综上所述|综上)[，,]?")
_COUNTED_CHAIN = re.compile(r"[^A-Za-z=\d]*\d[^A-Za-z=]*=\s?([^=]*)")
"""A chain that works a count out: `5! = 120 arrangements`."""
_SUBJECT = re.compile(
    r"(?!.*\b(?:minus|negative|plus|times|base)\b)(?:(?:[^\W\d_]+\s){2,8}|[\u4e00-\u9fff]{2,20})(?=\\?[$€£¥]?\d[\d.,/]*[^\d]*$)"
)
_TUPLE = re.compile(r"[^\W\d_][^()=$]*\s(\([a-z](?:\s?[,;]\s?[a-z]){1,3}\)\s?=\s?\([^()]+\))")
"""A tuple with its names, after words: `the pair (x, y) = (3, 2)`."""
_FOREIGN_UNIT = re.compile(r"(?<=\d)\s?(?:[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+\s?){1,4}\.?$")
"""Words for what is counted, in a script that the verifier reads few units of."""
_JOINED = re.compile(r"(?:[,;]|\b(?:and|or|et|ou|y|o|und|oder)\b|[和或、])\s*$", re.IGNORECASE)
_ADVERB = re.compile(
    r"\s*(?:(?:therefore|thus|then|hence|so|also|exactly|simply|just|indeed|precisely|somit|daher|folglich|genau|donc|alors|ainsi|entonces|pues"
    r"|quindi|dunque|portanto|logo)\s+)?",
    re.IGNORECASE,
)
"""At most one word between a verb and its formula, which leaves its value as it is: `ist somit`."""
_UNIT_WORDS = re.compile(
    r"\s{0,3}(?:[\u4e00-\u9fff]{1,12}|(?:[^\W\d_]+|[°%/²³^$€£¥]+){1,3}(?:[\s.]{1,3}[^\W\d_]+){0,3}[\s.]{0,3})?$"
)
_INTRODUCED = re.compile(r"(?:^|[.!?]\s)[^:$\d=]{3,80}:\s{0,3}(?:\*\*)?$")
_IN_DIGITS = re.compile(r"\W*([a-z][a-z -]+)\s\((-?\d[\d.,/]*%?)\)\W*", re.IGNORECASE)
"""A number in words and again in digits: `eighty-four (84)`."""
NAMED_LAST = re.compile(
    r"\b(?i:it|this|that|day|month|answer|result|winner)\s(?:is|was|will\sbe|would\sbe|must\sbe)\s(?:a\s|an\s|on\s)?([A-Z][a-z]+(?:\s[A-Z][a-z]+)?)[.\s]*$"
)
"""A proper noun that ends a sentence: "in 100 days it will be Friday"."""
_SO_CLAUSE = re.compile(
    r"[,;]\s(?:which\s(?:leaves|gives|makes\sit)|leaving|yielding)\s(?!us\b|no\b)|[,;]\s(?:and\s)?so\s(?!that\b|far\b|many\b|much\b|on\b(?!\s[a-z]))|(?:[,;]\s(?:and\s)?(?:thus|hence|therefore|then|meaning|which\smeans)|(?<=\w|[.,;$])\s(?:and\s)?so)\s(?=(?:that\s)?(?:he|she|it|they|we|there|the|this|his|her|their|in|[A-Z])\b)"
)
"""Where what follows from the rest of a sentence begins."""
_ADJUNCT = re.compile(
    r"\b(?:in|at|for|with|by|after|before|from|over|within|during|per|on|since|until|between|among|if|when|while|because|where|than|each|every|out of|every|of the)\b(?:\s+(?:[a-z'-]+)){0,5}?\s*\\?\$?$|\bto\s+[a-z]+\s+(?:[a-z]+\s+){0,2}\\?\$?$",
    re.IGNORECASE,
)
"""A preposition or a conjunction that rules over the number after it: "at a speed of", "to make"."""
_MONEY = re.compile(r"\b(\d+) dollars? and (\d{1,2}) cents?\b")
"""An amount of money in two units."""
_CHAIN = re.compile(r":\s([^:A-Za-z$\\=]*\d[^:A-Za-z$\\=]*=[^:A-Za-z$\\]*\d)[.\s*]*$")
"""A calculation without letters after its name, at the end: `the sum: 20 * 20 = 400`."""
_CURRENCY = re.compile("[$€£¥]")
_CURRENCY_AFTER = re.compile(r"\s?\\?(?:[$€£¥]|(?:euro|dollar|pound)s?\b)", re.IGNORECASE)
_TIME_WORD = re.compile(
    r"\s?-?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?"
    r"|secondes?|heures?|jours?|semaines?|mois|an(?:s|nées?)?|Sekunden?|Minuten?|Stunden?|Tagen?|Wochen?|Monaten?|Jahren?)\b"
)
_NO_DOUBT = r"(?![^$]*\b(?:wrong|incorrect|not|never|mistake\w*)\b)"
_SUBORDINATE = re.compile(
    r"\s+(?:while|whereas)\b[^$]*$|,\s+(?:(?:at|in|by|during|after|from)\swhich|i\.\s?e\.|d\.\s?h\.|das\sheißt|c'est-à-dire|es\sdecir|cioè|ou\sseja|то\sесть|das\s(?:sind|ist|entspricht)|soit|when|where|whose|meaning\sthat|of\swhich|since|because|as|who|while|whereas|although|though|attained|achieved|reached|namely|about|roughly|approximately|nearly|almost|compared)\b[^$]*$"
    r"|,\s(?:which\sis\s)?(?:\w+\s){0,3}(?:more|less|fewer|greater|larger|smaller|higher|lower|longer|shorter)\sthan\b[^$]*$"
    rf"|,\swhich\s(?:(?:you|we|one|I)\s(?:can|could|may|might)\b|(?:is\s)?also\b(?![^$]*\d)|(?:checks|confirms|agrees|matches|corresponds)\b){_NO_DOUBT}[^$]*$"
    r"|,\sand\sin\s(?:neither|no|each|both|either)\scases?\s(?:is|are|do|does)\b.*$"
    rf"|,\san?\s(?:value|number|result|sum|amount|total)\s{_NO_DOUBT}[^$]*$"
    r"|,\s+with\s.*$|(?<=[\w$)])(?<!\bbut)(?<!\band),?\s+(?:because|since)\s[^,;]*$"
)
"""A clause that adds to the value before it: "in 14 years, when the two are 26 and 52"."""
_COMMENT = re.compile(r"\s{2,}#\s.*$")
_BOUND = re.compile(
    r"\b(?:at\s(?:least|most)|(?:more|less|fewer|greater|larger|smaller|higher|lower)\sthan|up\sto)\s[^\W_]+(?:\s[^\W_]+)?"
    r"(?!\s?,?\sor\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\b(?:how|what|find|determine|compute|calculate)\b", re.IGNORECASE)
_PERSON = re.compile(r"(?<![A-Za-z\\$])[A-Z][a-z]{2,}(?![A-Za-z])")
"""A capitalised word, such as a name."""
_ENDS_CLAUSE = re.compile(
    r"(?:\s(?!ago|earlier|later|of|out|more|less|fewer|times|plus|minus|or|and\b)[^\W\d_]+){0,4}\s*(?:[,;.]|$|\sand\s[A-Z])"
)
"""What may follow a number up to the end of its clause: words for what it counts."""
_SAYS_SO = r"\b(?:is|are|does|do|has|have|can|must)(n't|\s?not|\snever)?\s(?:(?:indeed|also|therefore|thus|always|in\sfact)\s)?(?:an?\s|the\s)?"
"""A verb, denied or not, straight before what is said to be so."""
_EXCLAIMED = re.compile(r"(?:(?<=\w)|(?<=[)}$%\]*]))\s?!+(?=[\s*\"')]*$)")
_COMPARED = re.compile(r"(?<=[\u4e00-\u9fff\d])，(?:比|而|其中|即|也就是).*$")
"""What a Chinese sentence compares its value with."""
_OPTIONS = re.compile(r"(?<!\w)\(?[A-E][).:]\s")
_ONE_CHOICE = re.compile(
    rf"(?<![\w$\\]){_CHOICES}|(?<![\w$\\])(?:\([A-J]\)|\*\*[A-J]\*\*|[B-HJ](?![\w'’])|A(?=[.*)]|$))"
)
_ASKS_WHETHER = re.compile(
    r"(?:^|[.?!,]\s)(?:is|are|was(?=\s(?:the|it|he|she|there|this|that|his|her|its)\b)|were|does|do|did|can|could|will|would|has|have|must)\s[^?]{5,400}\?\s*$",
    re.IGNORECASE,
)
_TRUE_OR_FALSE = re.compile(r"\btrue\sor\sfalse\b", re.IGNORECASE)
YES_OR_NO_FIRST = re.compile(
    r"\W{0,3}(?:(?:so|thus|hence|therefore),?\s)?(yes|no|true|false)\b\W{0,3}[,.!:;]", re.IGNORECASE
)
YES_OR_NO = re.compile(r"\b(?:yes|no|true|false)\b", re.IGNORECASE)
LOOKED_AT = 8
"""Sentences at a response's end in which `find_last_value` looks."""
LONGEST_PHRASE = 160
MOST_WORDS = 6
"""Words of an answer that holds no number and no formula."""
_NAMING = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}|[^\W\d_A-Za-z\u0370-\u03ff]")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_WORDS_WITH_AND = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2}")
_CONSTANT = re.compile(r"(?:\\(?:[dt]?frac|sqrt|pi|cdot|times)(?![a-z])|[\d{}.,^/+\s-])+")
"""A formula without letters."""
_NO_CHAIN = re.compile(r"(?<!\\)[<>,]|\\(?:[lg]e(?:q|qq|qslant)?|neq?|begin)(?![a-z])")
"""Signs of an inequality, a list or a system, of which the last side is no answer."""
_IN_NUMBER = re.compile(r"\{,\}|(?<=\.\d{3}),(?=\d)")
"""A comma that parts no values: in braces, or behind points between thousands."""
_ROUNDED = re.compile(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*(?:≈|\\approx)([^=≈]*)")
SENTENCE = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?]\*\*)|(?<=[.!?]\$)|(?<=[.!?]\$\$)|(?<=[.!?]\\[\])]))\s{1,9}(?=[A-Z\u00c0-\u00de\u0400-\u042f¿¡\\$(\[])|(?<=[.!?])\s{2,9}(?=\d)|\n+|(?<=。)|\bI hope\b.*",
    re.DOTALL,
)
"""Where a sentence ends; its full stop may stand inside its last formula."""


_HOW_MANY = re.compile(
    r"(?<!\w)(?:how\s(?:many|much)|(?:what|which)(?=\spercent)|number\sof)\s+((?:[^\W\d_-]+[\s-]){0,3}?[^\W\d_]{3,})"
    r"(?=[?.,;:]|\s(?:do|does|did|are|is|was|were|can|could|will|would|have|has|had|must|should|may|of|in|there|on|to|an?|the|for|if|that|who|which|with|such|whose|needed)\b|\s*$"
    r"|\s(?!and\b)[^\W\d_]+\s(?:an?|the|this|these|he|she|it|they|you|I|we)\b)",
    re.IGNORECASE,
)
_FOREIGN_COUNTED = re.compile(rf"(?<!\w)(?:{FOREIGN_HOW_MANY})\s?([^\W\d_]{{3,}})", re.IGNORECASE)
_WHAT_IS = re.compile(
    r"\b(?:what(?:\sis|\sare|\swas|'s)|find|determine|compute|calculate|evaluate|give|state)\s(?:the|its|his|her|their|our)\s(?:[^\W\d_]+\s){0,2}?([^\W\d_]{3,})"
    r"(?=[?.,;:]|\s(?:of|in|if|when|for|that|to|on|at|between|from|by|with|after|per|such)\b|\s\$?\\?\(?[A-Za-z]\b|\s*$)",
    re.IGNORECASE,
)
_ASKED_LETTERS = re.compile(
    r"\b(?:find|solve\sfor|determine|compute|(?:values?\sof))\s((?:\$?[a-z]\$?,\s){0,4}\$?[a-z]\$?,?\sand\s\$?[a-z])(?![a-z])",
    re.IGNORECASE,
)
_SYSTEM = re.compile(r"\b(?:system|simultaneous(?:ly)?)\b", re.IGNORECASE)
_WHICH_NAME = re.compile(r"\b(?:what|which)\s(?:\w+\s)?(day|weekday|month)\b", re.IGNORECASE)
_NAMES = {
    "day": re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"),
    "month": re.compile(
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    ),
}
_PART = re.compile(r"(?<![\w(])(?:\(([a-f])\)|([a-f])\))(?=[\s*:.,])")
"""The label of a part: `(a)`, `b)`."""
_STEM = 2
"""Letters at a word's end that its other forms may change: `hour` and `hours`, `hora` and `horas`."""


class Asked(NamedTuple):
    """What a question gives, and what it asks for."""

    numbers: frozenset[str] = frozenset()
    """Its numbers, as digits without thousands separators."""
    compact: str = ""
    """All of it as `_compact` writes it."""
    words: frozenset[str] = frozenset()
    """Its words, in lower case: `even` and `odd` of "is it even or odd?"."""
    counted: frozenset[str] = frozenset()
    """What it asks the number of, in lower case: `divisors` of "how many positive divisors"."""
    subjects: frozenset[str] = frozenset()
    """What it asks the value of, in lower case: `radius` of "find the radius"."""
    bounds: frozenset[str] = frozenset()
    """Where it speaks of a bound, in lower case: `at least one head`."""
    person: str = ""
    """The only name in the clause that asks for a number: `Leo` of "How old is Leo now?"."""
    asks_whether: bool = False
    """Whether yes or no, or true or false, answers it."""
    is_lettered: bool = False
    """Whether it has lettered options."""
    predicate: str = ""
    """What it asks whether it is so, in lower case: `prime number` of "Is 221 a prime number?"."""
    letters: tuple[str, ...] = ()
    """The unknowns that it asks for, where they are several."""
    names: re.Pattern[str] | None = None
    """Finds the days or the months, if it asks for one."""
    named: frozenset[str] = frozenset()
    """Days and months that it names itself."""
    parts: str = ""
    """The letters of its parts in their order: `ab`."""


NOTHING_ASKED = Asked()


@lru_cache(maxsize=1024)
def read_question(question: str | None) -> Asked:
    """What a question gives and asks for, as far as its words show."""
    if not question:
        return Asked()
    kind = _WHICH_NAME.search(question)
    letters = _ASKED_LETTERS.search(question)
    if letters is not None:
        unknowns = set(re.findall(r"(?<![A-Za-z])[a-z](?![A-Za-z])", letters[1]))
    else:
        system = _SYSTEM.search(question)
        unknowns = set(re.findall(r"(?<![A-Za-z\\])[x-z](?![A-Za-z])", question[system.end() :])) if system else set()
    names = _NAMES["month" if kind[1].lower() == "month" else "day"] if kind else None
    labels = "".join(letter for letter, _, _ in find_part_labels(question))
    return Asked(
        numbers=frozenset(find_numbers(question)),
        compact=_compact(question),
        words=frozenset(re.findall(r"[^\W\d_]+", question.lower())),
        counted=frozenset(
            match[1].split()[-1].lower() for asks in (_HOW_MANY, _FOREIGN_COUNTED) for match in asks.finditer(question)
        ),
        subjects=frozenset(match[1].lower() for match in _WHAT_IS.finditer(question)),
        bounds=frozenset(match[0].lower() for match in _BOUND.finditer(question)),
        person=_find_person(question),
        asks_whether=_ASKS_WHETHER.search(question) is not None or _TRUE_OR_FALSE.search(question) is not None,
        is_lettered=len(_OPTIONS.findall(question)) > 1,
        predicate=_find_predicate(question),
        letters=tuple(sorted(unknowns)) if len(unknowns) > 1 else (),
        names=names,
        named=frozenset(names.findall(question)) if names else frozenset(),
        parts=labels if len(labels) > 1 and "abcdef".startswith(labels) else "",
    )


_BLANKS = re.compile(r"[\s{}$]|\\(?:left|right|[,;:! ])|(?<=\\)d(?=frac)")


def _compact(formula: str) -> str:
    """A text whose formulas can be compared: without blanks, braces, dollar signs and commands for space and size."""
    return _BLANKS.sub("", formula)


def drop_asked_side(answer: str, asked: Asked) -> str:
    """The right side of an equation whose left side the question asks for: 18 of `x^3 + y^3 = 18` for "Find $x^3 + y^3$"."""
    left, sign, right = answer.partition("=")
    name = _compact(left)
    if not sign or "=" in right or len(name) < 3:
        return answer
    asks = rf"(?:find|whatis|compute|determine|evaluate|calculate|simplify|factor|expand|valueof)(?:the)?(?:exact)?(?:valueof)?{re.escape(name)}(?=[?.,;]|if|when|where|given|for|in|as|over|$)"
    return right.strip() if re.search(asks, asked.compact, re.IGNORECASE) else answer


def drop_asked_bounds(sentence: str, asked: Asked) -> str:
    """A sentence without the bounds that the question speaks of: "the probability of at least one head is 7/8" is sure of its 7/8."""
    for bound in sorted(asked.bounds):
        sentence = re.sub(rf"{re.escape(bound)}(?!\s?,?\sor\b)", "", sentence, flags=re.IGNORECASE)
    return sentence


def _find_person(question: str) -> str:
    """The only capitalised word after the last "how", "what" or the like of a question; empty where it has none, or several."""
    asks = next(reversed(list(_ASKS.finditer(question))), None)
    names = set(_PERSON.findall(question, asks.end())) if asks is not None else set()
    return names.pop() if len(names) == 1 else ""


def _find_predicate(question: str) -> str:
    """What a question asks whether it is so: its last words after an article, `prime number` of "Is 221 a prime number?", else its last word;
    empty where it asks something else."""
    asks = _ASKS_WHETHER.search(question)
    if asks is None or asks[0].startswith(",") or re.search(r"\bor\b", asks[0]):
        return ""
    words = re.search(r"(?:\san?\s((?:[^\W\d_]+\s){0,2}[^\W\d_]{4,})|\s([^\W\d_]{4,}))\s?\?\s*$", asks[0])
    return (words[1] or words[2]).lower() if words is not None else ""


def find_yes_or_no(sentence: str, asked: Asked) -> str | None:
    """Whether a sentence ends in saying that what the question asks is so, or is not: "so it is not a prime number". None where it does not."""
    if is_hedged(sentence) or YES_OR_NO.search(sentence) or re.search(r"\b(?:whether|or)\b", sentence.lower()):
        return None
    said = re.search(rf"{_SAYS_SO}{re.escape(asked.predicate)}[.\s*]*$", sentence, re.IGNORECASE)
    return None if said is None else "No" if said[1] else "Yes"


def find_part_labels(text: str) -> list[tuple[str, int, int]]:
    """The labels of parts in a text, `(a)` or `b)`, as letter, beginning and end."""
    return [(label[1] or label[2], label.start(), label.end()) for label in _PART.finditer(text)]


def read_value(sentence: str) -> str | None:
    """What a sentence that announces an answer gives: the whole where it is no prose, else its option, formula or number; None
    where it hedges, denies or only relates the answer to something."""
    in_digits = _IN_DIGITS.fullmatch(sentence)
    if in_digits is not None and NUMBER.fullmatch(write_numbers(in_digits[1])):
        return in_digits[2]
    sentence = _NOT_BUT.sub("", drop_asides(sentence, announced=True))
    if DANGLING.search(sentence):
        return None
    if (either := _EITHER_LETTER.match(sentence)) is not None:
        return either[0]
    letter = _LETTERS.match(sentence) or _LETTER.match(sentence)
    if letter is not None:
        value = sentence[letter.end() :].strip(" .*")
        is_value = letter[0].endswith((".", ":", ")")) and (FORMULA.fullmatch(value) or NUMBER.fullmatch(value))
        return f"{letter[1]}) {value}" if is_value else letter[1]
    formula = FORMULA.fullmatch(sentence.strip(" .*"))
    if formula is not None and "$" not in formula_text(formula):
        return last_side(formula_text(formula)) or None
    if HEDGED.search(sentence) or DENIED.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    sentence = _REASON.sub("", _CONJUNCTION.sub("", sentence)).rstrip("。 ")
    if (bold := find_bold_value(sentence)) is not None and bold != sentence.strip("*"):
        return read_value(bold)
    if (labelled := _LABELLED.fullmatch(sentence)) is not None and not _OPTION.search(sentence):
        return read_value(labelled[1])
    plain = FORMULA.sub(" ", sentence)
    if _RELATIVE.search(sentence):
        return None
    formula = FORMULA.fullmatch(sentence.rstrip("."))
    if formula is not None and "$" not in formula_text(formula):
        return last_side(formula_text(formula)) or None
    option = _OPTION.search(sentence)
    if not _PROSE.search(plain):
        verbs = list(_VERB.finditer(sentence)) if _VERB_ALONE.search(plain) or re.search("[是为]", plain) else []
        rest = (sentence[verbs[-1].end() :] if verbs else sentence).strip().rstrip(".").strip("*")
        return _bare(_CONJUNCTION.sub("", rest)) or None
    if option is not None:
        return _choice_of(option)
    return None


def drop_asides(sentence: str, *, announced: bool = False) -> str:
    """The sentence without what explains or contrasts its value at the end, a comment, and the mark that exclaims it."""
    sentence = drop_exclamation(_EXPLAINED.sub("", _COMMENT.sub("", sentence)), announced=announced)
    sentence = _RESTATED.sub("", sentence)
    sentence = _CONTRAST.sub("", sentence)
    main = _SUBORDINATE.sub("", sentence)
    return main if re.search(r"\d", write_numbers(main)) else sentence


def _choice_of(option: re.Match[str]) -> str:
    """The letter, or the letters, that `_OPTION` found."""
    return next(group for group in option.groups() if group)


def drop_exclamation(sentence: str, *, announced: bool = False) -> str:
    """The sentence without the exclamation mark that ends it; after a letter or a lone number it is a factorial, `10!`, unless the
    number is announced in words."""
    mark = _EXCLAIMED.search(sentence)
    if mark is None:
        return sentence
    alone = not _WORDS.search(FORMULA.sub(" ", sentence[: mark.start()]))
    if alone and mark[0] == "!" and not (announced and sentence[mark.start() - 1].isdigit()):
        return sentence
    return sentence[: mark.start()] + sentence[mark.end() :]


def _bare(rest: str) -> str:
    """A value without quotation marks, and without a subject before its only number, `She has 5 apples`."""
    if (quoted := _QUOTED.fullmatch(rest)) is not None:
        rest = quoted[1]
    if (worked := _COUNTED_CHAIN.fullmatch(rest)) is not None and _WORDS.search(worked[1]):
        rest = worked[1]
    if (named := _TUPLE.fullmatch(rest)) is not None:
        return named[1]
    if (subject := _SUBJECT.match(rest)) is not None and not changes_next(subject[0]):
        rest = rest[subject.end() :]
    unread = ("unrecognised", "expression", "text")
    if (
        (counted := _COUNTED.fullmatch(rest)) is not None
        and (" of th" in rest or answer_type(rest) in unread)
        and not is_changed_after(rest, counted.end(1))
    ):
        return counted[1]
    rest = _COMPARED.sub("", rest)
    return _FOREIGN_UNIT.sub("", rest) if subject is not None or not CHINESE.search(rest) else rest


def find_bold_value(sentence: str) -> str | None:
    """The last value that a sentence sets in bold; None where what is bold is no value."""
    bold = [found[1].strip() for found in re.finditer(r"\*\*([^*\n]{1,120})\*\*", sentence)]
    if not bold or _PROSE.search(bold[-1]):
        return None
    return bold[-1] if re.search(r"\d|\$|\\", bold[-1]) or not re.search(r"\d|\$|\\|:", sentence) else None


def find_stated_value(sentence: str, asked: Asked = NOTHING_ASKED) -> str | None:
    """The value that a sentence states: the one that counts what the question asks the number of, the only one in it, or the one straight
    after its last verb or equals sign; where that does not decide, the only one that is not among the numbers of the question."""
    sentence = drop_asides(drop_asked_bounds(_SO.split(sentence)[-1], asked))
    if asked.asks_whether and (first := YES_OR_NO_FIRST.match(sentence)) is not None:
        return first[1]
    so = next(reversed(list(_SO_CLAUSE.finditer(sentence))), None)
    if (
        so is not None
        and re.search(r"\d", sentence[so.end() :])
        and _WORDS.search(FORMULA.sub(" ", sentence[so.end() :]))
    ):
        value = find_stated_value(sentence[so.end() :], asked)
        if value is not None:
            return value
    if (first := YES_OR_NO_FIRST.match(sentence)) is not None:
        return first[1]
    if (pairs := _NAMED_VALUES.search(sentence)) is not None:
        return pairs[1]
    concluded = _CONCLUDED.search(sentence)
    if concluded is not None:
        return concluded[1].strip("$") or None
    if (every := EVERY.search(sentence)) is not None:
        return every[1]
    if is_hedged(sentence) or _COMPARES.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    if (labelled := _AFTER_LABEL.fullmatch(sentence)) is not None and answer_type(labelled[1]) not in (
        "unrecognised",
        "text",
    ):
        return labelled[1]
    if asked.names is not None and (name := _find_asked_name(sentence, asked)) is not None:
        return name
    if (ranked := _RANKED.search(sentence)) is not None and not DENIED.search(sentence):
        return ranked[1].strip("$")
    if (number := _find_value_of_person(sentence, asked)) is not None:
        return number
    if (chosen := CHOSEN.search(sentence)) is not None:
        return chosen[1]
    if (phrase := _find_known_phrase(sentence)) is not None:
        return phrase
    if DENIED.search(_WHICH_NOT.sub("", sentence)) or (
        _RELATIVE.search(sentence) and not _DIFFERENCE.fullmatch(sentence)
    ):
        return _find_asked_number(sentence, asked) or _find_asked_subject(sentence, asked)
    if (inequality := _INEQUALITY.search(sentence)) is not None:
        return inequality[1].strip(" .")
    sentence = _CONJUNCTION.sub("", sentence).rstrip("。 .")
    if (option := _OPTION.search(sentence)) is not None:
        return _choice_of(option)
    if (measure := COMPOUND.search(sentence)) is not None and len(NUMBER.findall(sentence)) == 2:
        return measure[0]
    if YES_OR_NO.fullmatch(sentence) is not None:
        return sentence
    if asked.is_lettered and (letters := _find_only_letters(sentence)) is not None:
        return letters
    if not _WORDS.search(_MATH_WORD.sub(" ", FORMULA.sub(" ", sentence))):
        return _read_bare_formula(sentence)
    if (bold := find_bold_value(sentence)) is not None:
        return read_value(bold)
    if (named := NAMED_LAST.search(sentence)) is not None:
        return named[1]
    if (number := _find_asked_number(sentence, asked) or _find_asked_subject(sentence, asked)) is not None:
        return number
    return _choose_value(sentence, asked)


def _find_places(text: str) -> tuple[str, list[tuple[tuple[int, int], str]]]:
    """A text with its formulas blanked out, and the formulas' last sides and the numbers beside them, each with beginning and end, in order."""
    blank = FORMULA.sub(lambda match: " " * len(match.group()), text)
    places = [(match.span(), last_side(formula_text(match))) for match in FORMULA.finditer(text)]
    places += [(match.span(), match.group().strip(" ,")) for match in NUMBER.finditer(blank)]
    return blank, sorted(places)


_UNSURE_OF_PHRASE = re.compile(r"n['’]t\b|\b(?:or|for|would|else)\b|\d", re.IGNORECASE)
"""What makes a phrase hold for something, or not: "for a = 3 there is no solution"."""


def _find_known_phrase(sentence: str) -> str | None:
    """The phrase that the verifier knows in which a sentence ends: "so the system has an infinite number of solutions"; None of any other."""
    if not sentence.rstrip(" .!*")[-1:].isalpha():
        return None
    words = re.findall(r"[a-z]+", sentence.lower())
    for count in range(5, 1, -1):
        if len(words) >= count and (phrase := " ".join(words[-count:])) in SYNONYMS:
            before = sentence[: sentence.lower().rfind(words[-count])]
            is_sure = not any(sign.search(before) for sign in (DENIED, HEDGED, _UNSURE_OF_PHRASE))
            return phrase if is_sure else None
    return None


def _find_only_letters(sentence: str) -> str | None:
    """The choice of a sentence that has no other value, or its only list of choices: "that means A and D are the primes"."""
    found = list(_ONE_CHOICE.finditer(sentence))
    is_only = len(found) == 1 and not re.search(r"[\d$\\]", sentence)
    return found[0][0].strip("*") if is_only else None


def _choose_value(sentence: str, asked: Asked) -> str | None:
    """Of the formulas and numbers in a sentence the one that it states, by verbs, prepositions and what the question gives."""
    sentence = _SPOKEN.sub(lambda match: f" {'+' if match[1] == 'plus' else '-'} ", write_numbers(sentence))
    sentence = _MONEY.sub(lambda money: f"${money[1]}.{int(money[2]):02}", _SIGN_WORD.sub("-", sentence))
    blank, places = _find_places(sentence)
    if not places:
        if sentence.endswith((":", "：")):
            return None  # what it would state was to follow
        verbs = list(_VERB_ALONE.finditer(sentence))
        rest = _ADVERB.sub("", sentence[verbs[-1].end() :], count=1).strip() if verbs else ""
        return rest if rest and len(rest.split()) <= MOST_WORDS else None
    if (named_values := _join_named(sentence, [span for span, _ in places])) is not None:
        return named_values
    (start, end), last = places[-1]
    if end == len(sentence) and sentence[start] in "$\\" and _INTRODUCED.search(blank[:start]):
        return last
    verbs = list(re.finditer(rf"(?<!\w)(?:{VERBS})(?!\w):?|(?<=\w)[是为]", blank))
    if (
        verbs
        and sentence[start] in "$\\"
        and end == len(sentence)
        and _ADVERB.fullmatch(sentence[verbs[-1].end() : start])
    ):
        return last
    if (chain := _CHAIN.search(sentence)) is not None:
        return last_side(chain[1])
    if verbs and verbs[-1].end() <= places[-1][0][0] and not _PROSE.search(blank[verbs[-1].end() :]):
        return _bare(_REASON.sub("", _CONJUNCTION.sub("", sentence[verbs[-1].end() :].strip())).strip()) or None
    if len(places) == 1:
        return _read_only_place(sentence, blank, places[0])
    if (amount := _only_amount(sentence, places)) is not None:
        return amount
    if (main := _find_main_value(blank, places)) is not None:
        return main
    if (
        blank[start:end].strip()
        and find_beginning(sentence, start)[0] <= places[0][0][0]
        and _UNIT_WORDS.fullmatch(blank[end:])
    ):
        return _read_only_place(sentence, blank, places[-1])
    if (_NAMED.fullmatch(sentence[start:end].strip("$ ")) or _LEADS.search(blank[:start])) and _UNIT_WORDS.fullmatch(
        blank[end:]
    ):
        return last
    return _only_fresh(places, asked.numbers)


def _read_only_place(sentence: str, blank: str, place: tuple[tuple[int, int], str]) -> str | None:
    """The value of the only formula or number in a sentence, which `blank` holds without formulas; None where what stands beside it
    makes it part of another value that cannot be read."""
    (start, end), value = place
    if not blank[start:end].strip():
        is_changed = changes_next(blank[:start]) or is_changed_after(blank, end)
        return None if is_changed or not value else value + find_scale(blank, end)
    whole = find_whole_value(sentence, start, start + len(blank[start:end].rstrip(" ,")))
    return last_side(whole) if whole is not None and "=" in whole else whole


def _find_asked_number(sentence: str, asked: Asked) -> str | None:
    """The only value that counts what the question asks the number of: 24 in "it has 24 divisors, which form 12 pairs". None where there
    are several, or the clause around it denies, compares or is unsure."""
    if not asked.counted:
        return None
    found = set()
    sentence = write_numbers(sentence)
    blank, places = _find_places(sentence)
    for (start, end), value in places:
        after = _COUNTED_WORDS.match(blank, end)
        if _OTHER.search(sentence, 0, start):
            continue
        if value.endswith("%") and "percent" in asked.counted:
            found.add(value)
            continue
        if after is None or not any(_is_form_of(word.lower(), asked.counted) for word in after[0].split()):
            continue
        low = max(sentence.rfind(mark, 0, start) for mark in ",;:") + 1
        high = min((at for mark in ",;:" if (at := sentence.find(mark, end)) >= 0), default=len(sentence))
        clause = sentence[low:high]
        if DENIED.search(clause) or _RELATIVE.search(clause) or (_ADJUNCT.search(blank[low:start]) and len(places) > 1):
            continue
        found.add(value)
    return found.pop() if len(found) == 1 else None


def _find_asked_subject(sentence: str, asked: Asked) -> str | None:
    """The value that a verb gives to what the question asks for: 1 in "the remainder is 1, the same as that of $7^4 = 2401$". None where none
    does, or several do."""
    found = set()
    for subject in asked.subjects:
        for match in re.finditer(rf"\b{re.escape(subject)}\b{_HAS_VALUE}", sentence, re.IGNORECASE):
            formula = FORMULA.match(sentence, match.end())
            number = NUMBER.match(sentence, match.end()) if formula is None else None
            low = max(sentence.rfind(mark, 0, match.start()) for mark in ";.") + 1
            if _IF.search(sentence, low, match.start()):
                continue
            end = formula.end() if formula else number.end() if number else match.end()
            if end == match.end() or _GOES_ON.match(sentence, end) or DENIED.search(match[0]):
                continue
            found.add(last_side(formula_text(formula)) if formula else number[0].strip(" ,") if number else "")
    return found.pop() if len(found) == 1 else None


def _find_value_of_person(sentence: str, asked: Asked) -> str | None:
    """The number that a verb gives the person whom the question asks about, where a sentence has other numbers as well: 8 in "Leo is 8 years
    old, and Maria is 24". None where none does, or several do."""
    if not asked.person or len(NUMBER.findall(sentence)) < 2 or DENIED.search(sentence):
        return None
    name = re.escape(asked.person)
    found = set()
    for given in re.finditer(rf"\b(?:{name}\s(?:is|has|had|owns|owned|gets)|(?:makes|leaves)\s{name})\s", sentence):
        number = NUMBER.match(sentence, given.end())
        if number is not None and _ENDS_CLAUSE.match(sentence, number.end()):
            found.add(number[0].strip(" ,"))
    return found.pop() if len(found) == 1 else None


def join_letters(text: str, letters: tuple[str, ...]) -> str | None:
    """The last values that a text gives the letters, `x = 4, y = 3`; None where one has none."""
    given = {match[1]: match[2] for pattern in (_TABLE_ROW, _LETTER_VALUE) for match in pattern.finditer(text)}
    return ", ".join(f"{letter} = {given[letter]}" for letter in letters) if set(letters) <= set(given) else None


def _join_named(sentence: str, spans: list[tuple[int, int]]) -> str | None:
    """The values of several names, each once, `x = 3, y = 4`; without their names where those are one letter with numbers: `x_1 = 3`, `x_2 = 4`.
    None where a value has no name."""
    named = [name for start, end in spans if (name := _NAMED.fullmatch(sentence[start:end].strip("$ ")))]
    names = {name[1] for name in named}
    if len(named) < 2 or len(named) != len(spans):
        return None
    if len(names) == 1 and all(
        _JOINED.fullmatch(sentence[end:start].strip()) for (_, end), (start, _) in pairwise(spans)
    ):
        return ", ".join(name[0].partition("=")[2].strip() for name in named)
    if len(names) != len(named):
        return None
    numbered = len({name.partition("_")[0] for name in names}) == 1
    return ", ".join(name[0].partition("=")[2].strip() if numbered else name[0] for name in named)


def _is_form_of(word: str, others: Collection[str]) -> bool:
    """Whether a word differs from one of the others in its ending alone."""
    for other in others:
        length = max(3, min(len(word), len(other)) - _STEM)
        if word[:length] == other[:length] and abs(len(word) - len(other)) <= _STEM:
            return True
    return False


def _find_asked_name(sentence: str, asked: Asked) -> str | None:
    """The only day or month in a sentence that the question does not name itself, or the one that a verb gives; None where neither is so."""
    assert asked.names is not None
    found = list(asked.names.finditer(sentence))
    fresh = {match[0] for match in found} - asked.named
    if len(fresh) == 1:
        return fresh.pop()
    given = {match[0] for match in found if _GIVES_NAME.search(sentence, 0, match.start())}
    return given.pop() if len(given) == 1 else None


def _read_bare_formula(sentence: str) -> str | None:
    """The value of a sentence that is a formula, with or without delimiters, or several: the last side of a chain that names nothing."""
    formula = FORMULA.fullmatch(sentence)
    if formula and "$" not in formula_text(formula):
        return last_side(formula_text(formula))
    plain = _BOLD.sub(r"\1", sentence)
    if "≈" not in plain and ("$" in plain or _NAMED.fullmatch(plain) or _WORDS_WITH_AND.search(plain)):
        return plain or None
    return last_side(plain) or None


def find_numbers(text: str) -> set[str]:
    """The numbers of a text, as digits without thousands separators."""
    return {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def find_last_value(text: str, question: str | None) -> str | None:
    """The last value in the last sentences that hold one, of the kind that a question asks for; None where they hold none.

    A question with lettered options asks for letters, one that asks whether for yes or no, any other for a number or a formula.
    Sentences that deny or are unsure are passed over.
    """
    asked = read_question(question)
    lettered, whether = asked.is_lettered, asked.asks_whether
    sentences = [part.strip() for part in SENTENCE.split(text) if part and re.search(r"\w", part)]
    for sentence in reversed(sentences[-LOOKED_AT:]):
        if lettered or whether:
            found = list((_ONE_CHOICE if lettered else YES_OR_NO).finditer(sentence))
            if found and (lettered or len({one[0].lower() for one in found}) == 1):
                return found[-1][0].strip("*")
            continue
        if is_hedged(sentence) or DENIED.search(sentence) or sentence.endswith("?"):
            continue
        value = find_stated_value(sentence.strip("*#|> ")) if re.search(r"\d|[$\\]", sentence) else None
        if value is not None and re.search(r"\d|[\\^]|^[a-z]$", value):
            return value
        _, places = _find_places(sentence)
        if places:
            return places[-1][1]
    return None


_ASIDE_GROUP = re.compile(r"\\text\w{0,6}\s?\{\s*\([^{}()]*\)\s*\}[\s.,;$]*$")
"""Words in brackets behind a value: `6 \\text{ (see figure 2)}`."""
_SAYING = re.compile(
    rf"^\\(?:text\w{{0,6}}|mbox|mathrm)\s?\{{\s*(?:([^{{}}\d]{{0,60}}?)(?:(?<=[^\W\d_]{{3}})\s?[:：]|\b(?:is|are|equals)\s{{0,3}}[:：]?)|(?:[^\W\d_]{{1,3}}\s)?{FOREIGN_ANNOUNCED})\s*\}}(?:\s|\\[ ,;:!])*(?=[^\s{{}}])",
    re.IGNORECASE,
)
"""Words at the beginning of a box that announce its value: they end in a verb or in a colon after a word, or are those of one of the languages."""
_SAID_AFTER = re.compile(r"\\text\w{0,6}\s?\{\s*(?:입니다|이다|です|である)[.。]?\s*\}\s*$")


_CHANGING = re.compile(
    rf"\b(?:{CHANGING}|at\s(?:least|most)|up\sto|bound|below|above|under|over|if|no|not|never|of\W*$)\b",
    re.IGNORECASE,
)
"""Words that make what they announce another value, or only a bound of it."""


def drop_announcement(answer: str) -> str:
    """A boxed answer without the words set as text that announce its value; those that may change it stay: `\\text{at most: } 5`."""
    said = _SAYING.match(answer)
    if said is None or is_hedged(said[0]) or DENIED.search(said[0]) or _CHANGING.search(said[1] or ""):
        return answer
    return _SAID_AFTER.sub("", answer[said.end() :])


def find_readable_part(text: str, given: Collection[str] = (), *, boxed: bool) -> str | None:
    """The one value in a text that cannot be read whole: what is left without asides set as text, its only formula or number, the one
    that no preposition introduces, or the only one that is not among the `given` numbers, those of the question; None where it holds none,
    or several. A box may only lose its asides."""
    if len(text) > LONGEST_PHRASE or is_hedged(text) or DENIED.search(text) or not _NAMING.search(text):
        return None
    _, sign, right = _split_last_side(text)
    if sign and not boxed and not _NO_CHAIN.search(text) and answer_type(right) not in ("unrecognised", "text"):
        return right.strip()
    aside = _ASIDE_GROUP.search(text)
    bare = (text if aside is None or _CHANGING.search(aside[0]) else text[: aside.start()]).strip(" ,.;:")
    if bare != text and answer_type(bare) not in ("unrecognised", "text"):
        return last_side(bare) if bare.count("=") > 1 else bare
    if boxed and FORMULA.search(text) and _VERB_ALONE.search(FORMULA.sub(" ", text)) and not _CHANGING.search(text):
        return find_stated_value(text)
    if boxed or ("\\" in text and not FORMULA.search(text)):
        return None
    blank, places = _find_places(text)
    if _CHANGING.search(blank) or _MATH_WORD.search(blank):
        return None
    if len({value for _, value in places}) == 1:
        return _read_only_place(text, blank, places[0])
    return _find_main_value(blank, places) or _only_fresh(places, given)


def _only_fresh(places: list[tuple[tuple[int, int], str]], given: Collection[str]) -> str | None:
    """The only value that holds a number which is not `given`; None where several do, or nothing is given."""
    fresh = {value for _, value in places if not find_numbers(value) <= set(given)} if given else set()
    return fresh.pop() if len(fresh) == 1 else None


def is_hedged(sentence: str) -> bool:
    """Whether a sentence is unsure of what it says."""
    return HEDGED.search(_POSSIBLE_SUBJECT.sub("", sentence)) is not None


def _only_amount(sentence: str, places: list[tuple[tuple[int, int], str]]) -> str | None:
    """The only amount of money in a sentence whose other numbers count time: "she will owe 220 $ in 12 months"."""
    money = [value for (_, end), value in places if _CURRENCY.search(value) or _CURRENCY_AFTER.match(sentence, end)]
    time = [value for (_, end), value in places if _TIME_WORD.match(sentence, end)]
    return money[0] if len(money) == 1 and len(time) == len(places) - 1 else None


def _find_main_value(sentence: str, places: list[tuple[tuple[int, int], str]]) -> str | None:
    """The only value in a sentence that no preposition introduces: "240 miles" in "travels 240 miles in 4 hours at 60 miles per hour".

    None where the sentence has several such values, or none.
    """
    if not _WORDS.search(sentence) or not all(
        NUMBER.fullmatch(value) or _CONSTANT.fullmatch(value) for _, value in places
    ):
        return None
    objects, is_adjunct = [], False
    for at, ((start, _), value) in enumerate(places):
        low = places[at - 1][0][1] if at else 0
        before = sentence[low:start]
        if _JOINED.search(before):
            if not is_adjunct:
                return None  # "3 and 4": the values of a list
            continue
        is_adjunct = _ADJUNCT.search(before) is not None
        if not is_adjunct:
            objects.append(value)
    return objects[0] if len(objects) == 1 else None


def last_formula(sentence: str) -> str | None:
    """The last side of the formula in which a sentence ends; None where it holds none, adds to other values or denies it."""
    if DENIED.search(sentence) or _RELATIVE.search(sentence):
        return None
    last = next(reversed(list(FORMULA.finditer(sentence))), None)
    if last is None or sentence[last.end() :].strip(" .!。*") or _JOINED.search(sentence[: last.start()]):
        return None
    return last_side(formula_text(last)) or None


_CONDITION = re.compile(
    r"(?<=[)}\d])\s*,\s*\\q?quad\s*(?:\\text\{\s*(?:for|where)\b|[A-Za-z]\s*\\neq?(?![a-z])).*", re.DOTALL
)
"""A condition behind a formula: `,\\quad x \\neq 2`."""
_DEFINES = re.compile(r"[A-Za-z](?:\^\{?-1\}?|')?\([a-z]\)\s*=")
"""A function, of which a condition says where it is defined."""
_FORMULA_END = re.compile(
    r"(?:\s|(?<=[\d}\w)])[.;,](?=\s|\\q|$)|\\q?quad(?![a-z])|\\(?:blacksquare|square|Box|qed)(?![a-z]))+$"
)
"""The full stop of a formula, and the mark of a proof's end."""


def formula_text(match: re.Match[str]) -> str:
    """The text between the delimiters of a formula, without its full stop and the condition on a function that it defines."""
    formula = next(group for group in match.groups() if group is not None).strip()
    return _FORMULA_END.sub("", _CONDITION.sub("", formula) if _DEFINES.match(formula) else formula)


def _split_last_side(formula: str) -> tuple[str, str, str]:
    """A formula parted at its last equals sign outside of braces; the sign is empty where there is none."""
    at = next((at for at in _find_all("=", formula) if not formula.count("{", at) < formula.count("}", at)), -1)
    return ("", "", formula) if at < 0 else (formula[:at], "=", formula[at + 1 :])


def _find_all(sign: str, text: str) -> Iterator[int]:
    """Where a sign stands, the last place first."""
    at = text.rfind(sign)
    while at >= 0:
        yield at
        at = text.rfind(sign, 0, at)


_ALIGNED = re.compile(r"\\begin\{(?:aligned|align\*?|split|gathered)\}(.*)\\end\{\w+\*?\}", re.DOTALL)
"""Lines of a calculation, or a system."""
_NAMED_MATRIX = re.compile(r"\s*[A-Z](?:\^\{?(?:-1|T|\d+)\}?)?\s*=\s*(\\begin\{[bpv]?matrix\}(?:(?!=).)*)", re.DOTALL)


def last_side(formula: str) -> str:
    """`f(2) = 3 + 4 = 7` ends in 7, and so do lines of a calculation; `x + y = 3` is an equation and stays whole."""
    if (aligned := _ALIGNED.fullmatch(formula)) is not None:
        last = aligned[1].replace("&", "").rstrip("\\ \n").rpartition("\\\\")[2].strip()
        return (
            last_side(last.removeprefix("=").strip())
            if last.startswith("=") and not aligned[1].lstrip("& \n")[:1].isdigit()
            else formula
        )
    if (named := _NAMED_MATRIX.fullmatch(formula)) is not None:
        return named[1]
    left, sign, right = _split_last_side(formula)
    if (rounded := _ROUNDED.fullmatch(formula)) is not None:
        return rounded[1].strip()
    if not sign or _NO_CHAIN.search(_IN_NUMBER.sub("", formula)):
        return formula
    if (
        left.count("=")
        or re.fullmatch(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?|\^\{?-1\}?)?(?:\([^()]*\))?\s*", left)
        or not re.search(r"[A-Za-z]", right + left)
    ):
        return right.strip()
    return formula if re.search(r"[a-z]", left) and not re.search(r"[a-z]", right) else right.strip()
