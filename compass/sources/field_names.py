"""The names under which published rows hold their parts: lower case, without separators, the most usual first."""

_PROBLEM = """
    problem question problemtext questiontext problemstatement informalstatement nlstatement squestion prompt instruction
    input query messages conversations conversation dialogue chat user task text statement content body 题目 问题
"""
_CONTEXT = "context passage body story background premise"
_ANSWER = """
    answer shortanswer finalanswer groundtruth correctanswer goldanswer referenceanswer expectedanswer expected correct
    groundtruthanswer goldstandardanswer answerlatex answernumber
    answerkey answervalue correctoption gold golden target key label result solutions lsolutions 答案
    answers finalanswers goldanswers golds groundtruths referenceanswers correctanswers targets
    acceptedanswers acceptableanswers validanswers possibleanswers output response completion
"""
_SEVERAL_ANSWERS = (
    "solutions answers finalanswers goldanswers golds groundtruths referenceanswers correctanswers targets"
)
_ALTERNATIVES = """
    acceptedanswers acceptableanswers validanswers possibleanswers alternativeanswers alternateanswers otheranswers
    equivalentanswers answeraliases aliases answervariants alternatives
"""
_SOLUTION = """
    solution rationale generatedsolution workedsolution fullsolution goldsolution goldstandardsolution
    groundtruthsolution referencesolution longanswer output response completion nlproof
    informalproof proof reasoning explanation cot analysis answeranalysis steps derivation solution1
"""
_OPTIONS = "options choices answeroptions optionlist answeroptionlist candidates mcoptions alternatives endings"
_LEVEL = "level difficulty difficultylevel grade problemlevel hardness"
_ID = "id idx uuid uniqueid problemid questionid qid queid index exampleid name problemname"

_ABOUT_ROWS = """
    id ids idx index uuid hash md5 sha number no row line page date year month time timestamp url uri link source src dataset split file
    filename path name author model version licence license language lang subject topic category type tag tags domain score scores points votes
    rate count length tokens rating rank reward level difficulty
"""

PROBLEM = tuple(_PROBLEM.split())
CONTEXT = tuple(_CONTEXT.split())
"""What a question refers to, in a field of its own beside it."""

ANSWER = tuple(_ANSWER.split())
SEVERAL_ANSWERS = tuple(_SEVERAL_ANSWERS.split())
"""Names that leave open whether all values of a list are needed or any is right."""

ALTERNATIVES = tuple(_ALTERNATIVES.split())
"""Answers of which any is right."""

MULTIPLE = ("ismultipleanswer", "ismultianswer", "ismultiple", "multipleanswers", "multipleanswer")
"""Whether a problem asks for several answers."""

TOLERANCE = ("tolerance", "answertolerance", "absolutetolerance", "error", "errortolerance")
UNIT = ("unit", "units", "answerunit")
SOLUTION = tuple(_SOLUTION.split())
OPTIONS = tuple(_OPTIONS.split())
LEVEL = tuple(_LEVEL.split())
ID = tuple(_ID.split())
ABOUT_ROWS = frozenset(_ABOUT_ROWS.split())
"""Words in the names of fields that tell where a row is from or count something; a gold is never guessed from such a field."""

OPTION_COLUMNS = ("{}", "option{}", "choice{}", "answer{}", "opt{}")
"""Columns that hold one option each; a letter or number stands in the braces."""
