r"""The words and forms by which a sentence stands, for each language: data for `standing`, and nothing else.

Sentences come in lower case, with straight quotes. Forms are fragments of regular expressions; `^^` stands for the
beginning of a clause, `&&` for that and for what follows a conjunction. A form is tried only on sentences that have one
of the words it needs (`guards` finds out which), so every form of a language that puts blanks between words should need
some. Every gap in a form is bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Forms(NamedTuple):
    """How a language says what stands; each a list of fragments."""

    rule: tuple[str, ...]
    preference: tuple[str, ...]
    name: tuple[str, ...]
    owner: tuple[str, ...]
    deadline: tuple[str, ...]
    decision: tuple[str, ...]
    change: tuple[str, ...]
    """What says that something is not as it was. It stands only where it changes what stood."""
    passing: tuple[str, ...] = ()
    """What looks like a rule and is none: encouragement, stories, what holds for the moment."""
    likely: tuple[str, ...] = ()
    """What often settles something and often does not. It does not stand, but is kept before other sentences."""


ENGLISH = Forms(
    rule=(
        # Imperatives with an adverb of rules.
        r"&&(?:never|always) (?!(?:by|there|with|up|down|my|his|her|their|our|your|for|people|about|busy"
        r"|open to|willing|curious|supportive|such|very|super|let us|make my|mind|been|had|knew|known"
        r"|thought|seen|saw|heard|felt|got|did|was|were|is|are|has|have|gonna|going|in|on|at|a|an|the|that"
        r"|too|again|ever|before|really|quite|so|good|great|nice|fun|happy|glad|here|love|loved|wanted"
        r"|something|more|give (?:up|me)|gave|stop|lose|easy|dull|hurts|worth|keep going|remember|thankful"
        r"|grateful|excited|feels?|makes|hope|looking|believe in|chase|up for|nervous|ready|full|calm"
        r"|there's|\w{1,30}[^s]s|\w{1,30}ed|\w{1,30}ing|i|you|we|he|she|they|it|this|these|those|be (?:happy"
        r"|kind|you)|enough|far|one|will|would|could|can|say|said|anything|and|or|but|if|when|as|to)\b|smil"
        r"|inspir|amaz|interest)[a-z]",
        r"^^(?:please )?only (?!(?:those|one|two|three|four|five|six|a|an|the|if|when|because|my|in|on|at"
        r"|for|to|then|after|thing|problem|time|way|reason|downside|issue|question|that|this|some|few"
        r"|difference|once|\w{1,30}s|\w{1,30}ed|\w{1,30}ing|\w{1,30}ly|i|we|you|he|she|it|they|got|had|was"
        r"|saw|about|half|part|yesterday|today|last)\b|\d)[a-z]{1,30} ",
        r"\b(?:you|we|nobody|no one|it|they|that|this|these|the [\w ]{1,30}) (?:should|must|shall|are to"
        r"|is to|has to|have to|need to) (?:never|always|only|not|at all times)\b(?! (?:be (?:too|so|that"
        r"|hard|a problem)|have (?:been|to)|worry|forget|give up|feel|happen))",
        r"&&(?:please )?(?:don't|dont|do not|do n't) (?:ever |you dare )?(?!(?:forget|worry|give up|know"
        r"|think|get|mind|want|need|have|like|see|be|hesitate|let (?:it|that|them|this|anyone|anything|any"
        r"|the|your|fear|him|her|me)|feel|remember|even|really|you|miss|stop|lose|we|i|they|all|always"
        r"|believe|understand|sweat|beat|doubt|underestimate|fret|stress|rush|quit|take it|try (?:this|that"
        r"|it)|say that|sell yourself|push yourself|judge|laugh|cry|panic|tell me (?:that|you)|seem"
        r"|look (?:now|at me)|work (?:out|for me)|care|agree|recall|trust me|hate me)\b)[a-z]",
        r"^^(?:please )?(?:do not|don't) (?:be|get|have|let|forget to (?:always|never)) .{0,40}\b(?:without"
        r"|unless|until|before)\b",
        # Modals that bind things and people.
        r"(?<!there )\bmust(?:n't)?\b (?!be (?:so |really |very |quite |pretty |such |a (?:great|tough|hard"
        r"|nice|lot|really)|nice|hard|tough|great|amazing|fun|exciting|late|early|tired|asleep|kidding"
        r"|joking|wrong|right|mad|crazy|awesome|wonderful|difficult|proud|incredible|rewarding|tricky"
        r"|thrilled|feeling|beautiful|cool|challenging|hectic|super|satisfying|happy|quite|something"
        r"|\w{1,30}ing\b|special|everything|disappoint|worth|painful|sad|lonely|someone|the (?:best|most)"
        r"|one of|like|in (?:heaven|love|awe|pain|shock)|there|why|from\b|overwhelming|inspiring|interesting"
        r"|refreshing|a blast|your|lovely|relaxing|good|frustrat|scary|stress|surreal|busy)|have (?:been"
        r"|felt|taken|had|given|brought|made|loved|\w{1,30}ed)|feel|say|admit|'ve|see|read|watch|try|visit"
        r"|mean|know|look|love|seem|bring|make (?:you|life|it|for)|cost|require a|take (?:a|so)|give you"
        r"|learn|have\b(?! (?:a test|tests|an?|at|been reviewed))|go through|really"
        r"|come)(?<!one must )(?<!a must )",
        r"\bmay not (?!be (?:the|able|a|as|so|easy|perfect|sure|much|too|possible)|have|know|seem|always|even"
        r"|feel|work|need)",
        r"\b(?:shall|may) (?:not|only|never)\b (?=be |exceed|leave|use|contain|share|go |have |enter|touch"
        r"|run)",
        r"\b(?:should|must|may|can)(?:n't| not) (?:be (?:used|changed|touched|shared|sent|shown|deleted"
        r"|mentioned|more|longer|above|over|modified|edited"
        r"|removed|merged|public|logged|stored|committed|installed|called|written|exposed)|exceed|contain"
        r"|include|mention|use|depend|leave|see|touch|go over)\b",
        r"\b(?:all|every|each|any|the|our|these|this) (?!day|time|now|year|week|moment|night|weekend|morning"
        r"|one|kids?\b|people|you\b|i\b|we\b|they\b|of\b|that\b|it\b)[\w' /.-]{1,40}? (?:have|has|need|needs"
        r"|ought) to (?:be(?! held)|have|stay|include"
        r"|contain|use|go|fit|remain|end|start|come|match|follow|work|support|pass|run|carry|show)\b",
        r"\b(?:every|each|all|any) (?!day|time|now|year|week|moment|night|weekend|morning|of (?:us|them|it"
        r"|you|my|the)|one\b|these|those|my|the|in all|that|this|about|kinds|sorts|worth|i |we |you |they "
        r"|thanks|\w{1,30} has to offer)[\w'/.-]{2,20}(?: [\w'/.-]{1,30}){0,4}? (?:needs?|gets?|requires?"
        r"|must|should|has to|have to|goes|stays?|(?<!can )(?<!could )(?<!to )uses?|ends? (?:with|in)"
        r"|starts? with|is to|are to|shall)\b",
        r"\b(?:requirement|constraint|rule|policy|guideline|convention|condition)s?(?: here"
        r"| for [\w ]{1,20})?(?: is| are)?(?: that\b|: ?\S)",
        r"\b(?:is|are|be) (?:strictly |absolutely |completely |generally )?(?:forbidden|prohibited|banned"
        r"|not (?:allowed|permitted|an option|acceptable|negotiable|to be)|off limits|off-limits|mandatory"
        r"|compulsory|obligatory|non-negotiable|out of scope|out of bounds|confidential|read-only)\b",
        r"\bit(?:'s| is) (?:absolutely |very |really )?(?:essential|crucial|vital|imperative|mandatory"
        r"|forbidden|not allowed|required|critical|important) that (?!every|people|we\b|i\b|you)",
        r"\b(?:i|we)(?: want| need| expect| would like|'d like| require| insist)(?: that| on)? (?:you|all"
        r"|every|each|nobody|no one|everything|no)\b.{0,40}\b(?:always|never|not|only|every|all|without"
        r"|before|be as|be in)\b",
        r"\bi (?:don't|do not) want (?:you|any|to (?:see|hear|receive|get) any|anyone|anything)\b",
        # Adverbs that make anything a rule.
        r"\b(?:from (?:now|here|today|this point) (?:on|onwards?|forwards?)|henceforth|going forward"
        r"|until further notice|under no circumstances|in no case|under any circumstances|no exceptions"
        r"|without exceptions?|at all times|as of (?:now|today|monday|tomorrow)|effective immediately"
        r"|by default|for the rest of (?:this|our|the) (?:conversation|chat|session|project|talk"
        r"|discussion))\b|\b(?:must|never|always|don't|do not)\b.{0,60}\bno matter what\b",
        r"^in future\b|^for future reference\b|^in general,? (?:use|write|keep|do|don't|prefer|avoid|answer)",
        r"^(?:when|if|whenever|before|after|unless|while|once|wherever|every time|each time|any time"
        r"|anytime) (?:you|we|i ask|i say|anyone|anybody|someone|somebody|something|there|the|a|an|in doubt"
        r"|\w{1,30}ing)\b[^,]{0,80}, (?:please (?:always|never|add|use|ask|write|include|tell|wait|put|keep"
        r"|don't|do not)|you (?:must|have to|need to) |we (?:must|should) |always |never |make sure"
        r"|don't (?!hesitate|worry)|do not |(?:please |then )?(?:add|use|ask|check|tell|write|include|put"
        r"|run|show|give|send|keep|stop|start|round|cite|quote|list|say|explain|leave|skip|wait|call|mention"
        r"|convert|attach|copy|note|create|open|update|prefer|avoid|answer|reply|warn|double-check|stick)\b)",
        r"\b(?:whenever|every time|each time|any time) you (?!need|want|feel|like|get|can|are|'re|think|look"
        r"|see|have|come|visit|felt|go\b|play|make me|watch|hear|listen)[a-z]",
        r"\b(?:as a (?:general |rule of thumb |matter of )?(?:rule|principle|policy)|across the board"
        r"|in (?:all|every) cases?"
        r"|(?:until|unless) (?:i|we) (?:say|tell you|decide) otherwise|from here on(?: out)?)\b",
        r"\b(?:in|for|on|with|to) (?:all|any|every|each) (?:future|further|upcoming|subsequent|new) [a-z]",
        r"\bfrom (?:tomorrow|next [a-z]{3,10}|the (?:\d{1,2}\w{0,2}|first|second|third)|monday|tuesday"
        r"|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august"
        r"|september|october|november|december|\d{1,2}(?: [a-z]{3,9})?) (?:on|onwards?)\b",
        r"(?:^(?:starting|beginning)(?! [^,]{2,40}, i(?:'\w|\b))|\b(?:effective|as of|as from)) (?:tomorrow"
        r"|next|the|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april"
        r"|june|july|august|september|october|november|december|\d)(?!.{0,12}\b(?:19|20)\d\d\b)",
        r"\bmake it an? (?:habit|rule|point|policy|principle)\b",
        r"^(?:when|if|whenever) in doubt\b|^in case of doubt\b",
        r"^whenever [^,]{3,80}, (?:please |always |just )?(?!i\b|i'\w|we\b|he\b|she\b|it\b|it's|they\b|my\b"
        r"|the\b|you\b|there\b|this|that|life|people|everyone)[a-z]{2,20} ",
        r"\b(?:until|unless|before|without) [^,]{2,60}, (?:please )?(?:nothing|nobody|no one"
        r"|no [a-z]{3,20} (?:is|are|gets?|may|will|leaves?)|don't (?!worry|forget)|do not|we don't"
        r"|keep (?:the|all|every)|leave (?:the|all|it))\b",
        r"^(?:please )?(?!i\b|we\b|she\b|he\b|they\b|it\b|there\b|had\b|was\b|is\b)[a-z]{2,20} (?:nothing"
        r"|nobody|no one) .{0,40}\b(?:before|until|unless|without)\b",
        r", so (?:please )?(?:no (?!one|worries|problem|idea|matter|doubt|luck|wonder|need)[a-z]"
        r"|nothing (?:too|with|that|before|after)|never (?!mind)[a-z]|avoid|always|keep (?:that|it|them|the"
        r"|all|your|every)|use |ask |make sure|please (?:don't|do not|avoid|use|keep|no|only|never|always)"
        r"|(?:don't|do not) (?!worry|mind|know|think|have|want|need|feel|really|get|see|be |forget|you"
        r"|understand)[a-z])",
        r", so (?!i\b|i'|we\b|he\b|she\b|they\b|it\b|you\b)[\w' -]{2,40} (?:should|must|needs? to|has to"
        r"|have to|can't|cannot"
        r"|may not) (?:be|use|have|stay|go|come|fit|include|work|match|follow|contain|start|end)\b",
        r"\byou (?:can|may) (?:always )?(?:skip|leave out|omit|assume that|assume i)\b",
        r"\byou (?:can|may) [^,]{3,60}, but (?:not|never|only|don't|do not)\b",
        # What things are, get and need as a rule.
        r"\b(?:is|are) (?:not |never |always |only )?to be [a-z]{2,20}(?:ed|en|wn|id|nt|pt|ld|ne|de)\b"
        r"(?<!is to be done)",
        r"\b(?:is|are|stays?|remains?) (?:strictly |absolutely |completely )?(?:taboo|a no-go"
        r"|out of the question|secret"
        r"|private|mandatory|required|forbidden|closed to [a-z]{3,20})[.!,;]?(?: (?:for|in|on|to|until) |$)",
        r"\b(?:stays?|remains?) (?:as (?:it is|they are|is)|out of (?:the|our|it|this|my|all) [a-z]"
        r"|unchanged|untouched|confidential|in place|off\b|closed\b)",
        r"^(?:each|every) (?!day|time|year|week|moment|night|weekend|morning|evening|summer|winter|spring"
        r"|now|one\b|of\b|single|other|little|family|person|kid|child|step|bit)[\w -]{2,40} (?:gets?|opens?"
        r"|starts?|begins?|ends?|needs?|requires?|uses?|follows?|includes?|contains?|receives?|carries|bears"
        r"|names?|is (?:named|written|signed|numbered|stored|kept|reviewed|tested))\b",
        r"\bneeds? (?:at least )?(?:one|two|three|four|five|\d+|the|a) (?:[a-z]{3,12} )?(?:approvals?"
        r"|reviewers?|signatures?|sign-offs?|witness(?:es)?|docstring|permission|permit|quorum)\b",
        r"^(?!.{0,60}\b(?:who|which|about)\b)(?!i |he |she |they |you |we |it |who |why |what |how |when "
        r"|people |everyone |everybody |one |life |kids |parents |love |friends |that |this |maybe "
        r"|there )[\w' -]{2,40} (?:should|shall|must|may|can) (?:never|always|only|not)\b(?! (?:be (?:too|so"
        r"|that|hard|a problem|kind|happy|able)|have|worry|forget|give|feel|happen|imagine))",
        r"^[a-z-]{3,20}s (?:without|that (?:lack|miss|have no)|with) [\w' -]{2,40} (?:are|get|will be"
        r"|must be) (?:never |not |always )?[a-z]{3,20}ed\b",
        r"\b(?:are|is) (?:always |never |only )?(?:used|named|written|spelled|spelt|formatted|indented"
        r"|stored|kept|signed|given|quoted|rounded|called|numbered|measured) [^,]{0,40}\b(?:here|everywhere"
        r"|throughout|in (?:this|our|the|all) (?:project|repo|repository|codebase|team|company|house|book"
        r"|documents?|series|app|office|texts?|files?))[.!]?$",
        r"^in (?:this|our) (?:project|repo|repository|codebase|team|company|house|book|document|series|app"
        r"|office|family)\b,? (?!i\b|there (?:is|are)|he\b|she\b)",
        r"\b(?:go|goes|belong|belongs) (?:in|into|under|to|on|below) [^,]{2,40}, (?:not|never) ",
        r"^(?:our|the|my) (?:[a-z]{2,20} )?(?:policy|convention|standard|guideline|style guide"
        r"|house rule)s? (?:here )?(?:is|are|says?|demands?|allows?)\b"
        r"(?! (?:that )?(?:not clear|unclear|good|bad|wrong|fine|stupid|a joke|the same|about))",
        r"^^(?:please )?refer to (?!me\b|this\b|that\b|it\b)[\w\"' -]{2,40} as\b",
        r"^(?!i |he |she |it's |that's |was |there |you |we had|they )[^,]{8,80} (?:in|on|by|at|with|for|to"
        r"|before|after|via) [^,]{2,40} only[.!]?$",
        r"\bwe (?:no longer|never|only|do not|don't) (?:accept|support|ship|sell|offer|take|hire|allow"
        r"|send|publish|deploy|merge"
        r"|deliver|refund|print|share|store|log|serve|work)\b(?! (?:it|out|that|so|well|together))",
        r"^^mind that\b|\bdo bear in mind\b",
        r"^(?!i |he |she |it |they |we |you |who |my \w{1,20} (?:is|are)|there |that "
        r"|this )[\w' -]{3,40} (?:is|are) (?:never|always"
        r"|only) (?!been|going|trying|looking|happy)[a-z]{2,20}(?:ed|en|wn|ld|nt|pt|id)\b",
        r"^(?:all|our) [a-z][\w -]{2,30} (?:are|is|will be|get|gets) (?:held|written|paid|sent|done|made"
        r"|given|kept|told|shown|[a-z]{2,20}ed) (?:in|by|with|to|on|at|as|from|through|via|before|after"
        r"|within|under|every|once|twice)\b(?<!interested in)",
        r"^[\w' -]{4,50}s? (?:older|newer|longer|larger|bigger|smaller|shorter|higher|lower|more"
        r"|less) than [\w' -]{2,30} (?:get|gets|are|is|need|needs|must|go|goes) ",
        r"^(?:whoever|anyone who|anybody who|everyone who|those who|anything (?:above|over|under|below"
        r"|beyond|with|without|that|from|written|bigger|smaller|longer)) [^,]{2,60}? (?:goes|fixes|pays|gets"
        r"|answers|brings|cleans|closes|writes|stays|waits|needs?|must|has to|have to|should|is to|may)\b",
        r"^(?:please )?(?!i\b|we\b|she\b|he\b|they\b|it\b|there\b|had\b|was\b|is\b|know|knew|say|says|said"
        r"|got|found|saw|did|has\b)"
        r"[a-z]{2,20} nothing (?:in|on|from|under|inside|outside|below) (?:the|this|our|my|any) ",
        r"^nothing (?:with|containing|above|over|after|before|made (?:of|with)|longer|bigger|spicier"
        r"|stronger) [a-z]",
        r"\b(?:is|are) (?:strictly |only )?(?:reserved|set aside|kept free|off) for [a-z]",
        r"^(?!i |he |she |it |they |we |you |the (?:cat|dog|film|movie|game) )(?:the |our |my "
        r"|all )[\w' -]{2,30} (?:is|are) [^,]{2,40}, not [^,]{2,40}[.!]?$",
        r"\b(?:no one|nobody) (?!\w{1,30}ed\b|was|were|had|did|came|went|knew|said|saw|got|could|would"
        r"|really|else|knows|cares)[a-z]{2,20}"
        r"\b[^,]{2,60}\b(?:except|other than|unless|without|but [a-z]{2,20}[.!]?$)",
        r"\byou have (?:my|our) (?:permission|okay|ok|consent|go-ahead)\b|\byou have (?:free rein"
        r"|a free hand|carte blanche)\b",
        r"^^feel free to [^,]{2,60}\b(?:whenever|any ?time|always|without asking)\b",
        r"\b(?:is|are) (?:fine|okay|ok) (?:with|by) (?:me|us)\b(?!.{0,40}\?)",
        r"^(?:please )?(?:put|add|place|include|append|insert|set|leave|mark|prefix|repeat) [\w' -]{2,50} "
        r"(?:to|behind|before|after|in|on|with|at|under|above|below|into|for|on top of|beside"
        r"|next to) (?:all|every|each|any) [a-z]",
        r"^[a-z][\w ]{1,20} (?:first|before [a-z]{2,20}), [\w ]{2,20} (?:later|second|last|after that"
        r"|afterwards)[.!]?$",
        r"\bwe (?:run|do|write|build|host|store|keep|track|handle|sign|file) (?:everything|all [a-z]{2,20}"
        r"|every [a-z]{2,20}) (?:in|on|with|by|via|at|under|as)\b",
        r"\b(?:there's|there is|we have) a (?:hard |strict |firm |fixed |fix )?(?:limit|cap|maximum"
        r"|minimum|ceiling|quota|ban|freeze|rule)\b",
        r"\bis the (?:absolute |bare )?(?:minimum|maximum|limit|upper limit|lower limit|cut-?off)[.!]?$",
        r"^(?:for|on|with) (?:all |any )?[\w' -]{3,30}, (?:please )?(?:turn to|contact|ask|talk to"
        r"|write to|go to|see|call) [a-z]",
        r"^^(?:please )?leave (?:my|our|the|his|her|their|all) [\w' -]{2,30} (?:alone|as (?:it is"
        r"|they are)|untouched|unchanged|in peace)\b",
        r"\bis (?:not|never) (?:allowed|permitted|welcome) (?!to (?:me|be sad))[a-z]",
        r"\bis the only (?:one|person|team) (?:who|that|to|allowed) (?:may|can|is allowed|has|should|must)",
        r"^(?:please )?(?:use|favou?r|respect|follow) (?!(?:the|this|that|these|those|it|them|my|your|our|a"
        r"|an|one|two|three|some|his|her|its|as|both|more|other)\b|\d)(?:[a-z-]{3,20},?"
        r" ){1,3}[a-z]{2,20}[^s\W]s\b(?! (?:this time|now|to (?:answer|solve|show))\b)",
        r"\bonly (?:when|if) (?:asked|needed|necessary|blocked|required|requested|i (?:ask|say)|you (?:are"
        r"|have|must|need))\b",
        r"\b(?:after|before|with|in|at the (?:end|top|start|beginning|bottom) of|under|below) (?:each"
        r"|every) (?:answer|reply|response|message|mail|email|session|chapter|commit|change|step|meeting"
        r"|file|function|section|page|post|report|summary|table|test|release)\b",
        r"^[a-z]{3,20} over [a-z]{3,20}[.!]?$|\bas (?:my|the|our) (?:[a-z]{2,20} )?default\b",
        r"^(?:when|if|where) (?!i\b|i'|we\b|he\b|she\b|they\b|it\b)[^,]{3,80}, (?:please )?(?:follow|choose"
        r"|pick|prefer|stick|mark|flag|refactor|split|round|wait|warn)\b",
        r"^(?:please )?(?:format|provide|include|cite|state|mention|skip|quote|attach|number"
        r"|spell) (?!(?:the|this|that|these|those|it|them|my|your|our|a|an|one|two|three|some|his|her|its|as"
        r"|both|more|other|me|us)\b|\d)(?:[a-z-]{3,20} ){0,2}[a-z]{2,20}[^s\W]s\b",
        # Ask first, make sure, wait.
        r"^^(?:please )?(?:always |first |just )?(?:ask|check|consult|tell|inform|notify|warn|confirm|talk"
        r"|speak|clear|run|discuss|verify|coordinate|wait|get)\b.{0,45}(?:\b(?:before|until|beforehand"
        r"|prior to)\b|\bfirst(?=[.,!]|$))",
        r"^^(?:please )?(?:always |do )?(?:make (?:absolutely )?sure|ensure|see to it|take care|be sure"
        r"|be careful)(?: that)? (?:the|all|every|each|no|nothing|nobody|any|our|my|there|it|they|not|nobody"
        r"|that|everything|none|never|always|you (?:never|always|don't|do not|use|keep|follow))\b",
        r"\bbefore (?:you|we|anyone|anybody|any|each|every) (?:push|commit|merge|deploy|release|delet|send"
        r"|publish|chang|book|buy|order|sign|ship|edit|touch|run|remov|start|answer|write|call|install"
        r"|overwrite|post|upload|click|reply|submit|migrat|pay|spend)",
        r"^(?:please )?(?!i\b|i'\w|we\b|we'\w|she\b|he\b|they\b|it\b|you\b|the\b|that\b|this\b|so\b|my\b"
        r"|there\b|also\b|but\b|and\b|yeah|even|what|how|if\b|in\b|\w{1,30}ing\b|go\b|come|see\b|meet"
        r"|call me|rest|relax|enjoy|had|was)[a-z]{1,30} .{0,60}\bbefore (?:every|each|any|deploying|pushing"
        r"|committing|merging|releasing|deleting|sending|publishing|booking|buying|signing|changing)\b",
        r"\b(?:not|nothing|never|no \w{1,30}|nobody|no one)\b.{0,60}\bwithout (?:my|our|a|an|the|asking"
        r"|checking|first|prior|permission|approval|consent|telling|review|his|her|their|written)\b",
        r"\bwithout (?:my|our|prior|written|explicit) (?:\w{1,30} )?(?:approval|permission|consent|okay|ok"
        r"|go-ahead|sign-off|agreement)\b",
        r"\b(?:no|nothing) (?!problem|worries|way|doubt|idea|wonder|need|matter|thanks|kidding|pressure|rush"
        r"|surprise|clue|like|beats|better|but|to (?:do|say|worry)|more than|is better|else)"
        r"[\w -]{2,40} (?:is|are|gets?|goes|may be|can be|will be|shall be|should be|leaves?) (?:allowed"
        r"|permitted|merged|deployed|sent|shipped|published|deleted|installed|shared|changed|released|used"
        r"|to be|out|live|in|into|on|before|without)\b",
        r"^^(?:please,? )?no (?!problem|worries|way|doubt|idea|wonder|need|matter|thanks|kidding|pressure"
        r"|rush|surprise|clue|one|big deal|i |it|we|you|that|thank|luck|more\b.{0,3}$|judg|time like"
        r"|better)[\w -]{2,40}(?:,? please\b|\b(?:on|in|before|after|without|during|at|allowed|unless|until"
        r"|outside|with|over|under|longer than|shorter than|via|per)\b)",
        r"^^nothing (?:is|gets|goes|may be|can be|will be|leaves|should be) (?:ever )?(?:merged|deployed|sent"
        r"|shipped|published"
        r"|deleted|installed|shared|changed|released|bought|booked|out|live|in|into)\b",
        r"^^(?:please )?stop (?!worrying|thinking|by\b|being|dreaming|believing|learning"
        r"|growing)\w{1,30}ing\b",
        r"\b(?:we|you|they|i|it|he|she)(?:'re|'m|'s| are| am| is)(?:n't| not| never) (?:allowed"
        r"|permitted) to\b|\b(?:you|we|they|it) (?:are|is)(?:n't| not| never) to [a-z]",
        r"\b(?:guide|guidelines|rules?|polic(?:y|ies)|contract|law|company|team|client|customer|spec"
        r"|standard|regulations?|doctor|boss|manager|licence|license|insurance|school|landlord"
        r"|lawyer)\b.{0,20}\b(?:forbids?|prohibits?|requires?|rules? out|disallows?|bans?|mandates?|insists?"
        r"|(?:wants|expects) (?:us|me|you|it|everything|all|every|no|only|to be)|told (?:me|us)|asked (?:me"
        r"|us) (?:to|not))\b",
        r"\b(?:no one|nobody|none of|only) (?!one|two|a\b|the best|time)[\w' ]{0,30}?\b(?:may|is allowed to"
        r"|are allowed to|must|gets? to|has access|have access)\b",
        r"^(?!.{0,60}\b(?:where|which|that|how|what)\b.{0,30}should)(?!it |that |this |we |you |i |they |he "
        r"|she |there |things |life|love | |everyone |people |who |what |maybe |how |why |when "
        r"|someone )(?:the |all |our |my |your )?[\w-]{2,30}(?: [\w-]{1,30}){0,4}? should (?:be|have|use|go"
        r"|come|start|end|stay|include|follow|contain|fit|link|remain|keep|carry|bear|refer|appear|read"
        r"|sound|mention|name|avoid|live|ask)\b(?! (?:a lot of |so |really |pretty |super )?(?:fun|great"
        r"|good|nice|fine|easy|amazing|interesting|awesome|exciting|a blast|back|able|here|there|cool|worth"
        r"|perfect|happy))",
        r"^(?!i |we |she |he |they |it |it's |that's |you |my |that |this |there |who )[\w' -]{2,40} always"
        r" (?:goes? to|belongs?|comes? first|needs?|stays?|starts? with|ends? with)\b|\bcomes? first\b",
        r"^^(?:please )?(?:skip (?:the|all|any) [a-z]|be (?:brief|concise|short|polite|formal|informal|direct"
        r"|honest|precise|specific|blunt|strict|consistent|terse|accurate|quiet|careful with|more|less)\b)",
        r"^^(?:please )?(?:(?:give|send|show|tell|write)(?: me| us)?|answer|reply|respond|output"
        r"|return) (?:only|just|nothing but)\b(?! (?:the|those|these|this|that|one|two|three|a|an|\d+)\b)"
        r"|, no [a-z]{3,20}s[.!]?$(?<!worries.)(?<!thanks.)",
        r"^it's [^,]{2,40}, not [^,]{2,40}[.!]?$|^^nothing (?:leaves|goes out|gets out)\b"
        r"|^(?:please )?do (?:all|every|each|any) [a-z]",
        # Limits and ways of working.
        r"\b(?:is|are|be|stays?|remains?) (?:strictly |now |hard-)?(?:capped|limited|restricted) (?:at|to)\b",
        r"\b(?:budget|limit|cap|maximum|minimum|quota|ceiling|word count|page limit"
        r"|length)\b[\w ']{0,30} (?:is|are|of|stays?|remains?|must|at|should|may|can)\b.{0,20}(?:\d"
        r"|[a-z]{1,30} (?:euros?|dollars?|pounds|pages?|lines?|words?|characters?|hundred|thousand|minutes?"
        r"|hours?|people|seats|mb|gb)\b)",
        r"\b(?:should|must|may|can|shall|has to|have to|needs to|need to|ought to) (?:be|stay|remain|have"
        r"|take|cost|last|contain|run|fit)\b.{0,30}\b(?:at most|at least|no more than|not more than"
        r"|no longer than|no fewer than|below|under|within|above|maximum|minimum|less than|fewer than)\b",
        r"\b(?:at most|no more than|not more than|no longer than|a maximum of"
        r"|up to a maximum of) .{0,30}\b(?:per|each|in total|altogether|a day|a week|a month|at a time)\b",
        r"^^(?:please )?keep (?:the|every|all|each|this|that|my|our|it|them|your (?!chin|head|fingers|eyes"
        r"|spirits?|hopes?|promise|cool|word|dreams?|distance|mind|faith)\w{1,30}|answers|responses|replies"
        r"|comments|everything|things|sentences|functions|\w{1,30}s|\w{1,30} compatible) (?!up|going|coming"
        r"|posted|alive|in touch)",
        r"^^(?:please )?use (?:only )?[\w\"'.,/+# -]{1,60}\b(?:not|instead of|rather than|everywhere"
        r"|throughout|for (?:all|every|any|everything)|in (?:this|all|every|our|your) [a-z]{1,30}"
        r"|when(?:ever)?"
        r"|by default|only|over|never)\b",
        r"^^(?:please )?use (?:only|british|american|metric|imperial|plain|simple|formal|informal|tabs|spaces"
        r"|camel|snake|semicolons|single|double|the (?:metric|imperial|oxford|24|formal|informal|active"
        r"|passive|same)|\w{1,30} case|conventional|polite|bullet|short)\b",
        r"^^(?:please )?(?:stick (?:to|with)|avoid (?!this|that)|refrain from|abide by|adhere to|comply with"
        r"|prefer\b|follow (?:the|our|my|these|this) [\w ]{0,20}(?:guide|rule|style|convention|polic|standard"
        r"|format|order|pattern|process|template)|restrict|limit (?:the|your|all|yourself|every|each|answers"
        r"|replies))",
        r"^^(?:please )?(?:always )?(?:answer|reply|respond|speak|talk|write|explain"
        r"|communicate)(?: to)?(?: me| us| back| everything| all \w{1,30}| dates| numbers| names| code"
        r"| comments| commit messages)?(?: only| always| briefly)? (?:only )?(?:in (?!front|detail|person"
        r"|case|time|general|a\b|the\b|this\b|my\b|your\b|order|about|advance)[a-z]{3,20}(?:,| (?:unless"
        r"|even|until|only|when|from|whatever|no matter))|in (?!the (?:next|following|morning)|a (?:few"
        r"|couple))(?:[a-z]{1,30} )?[a-z]{1,30}$|in (?:plain|simple|short|british|american|english|german"
        r"|french|spanish|the (?:first|second|third|same|past|present)|one sentence|a single|two sentences"
        r"|bullet)|with(?:out)? (?!some|any|tips|a (?:list|poem|story))|as (?:briefly|short|if|concisely"
        r"|plainly)|briefly|using|like )(?!some|tips|the following|a (?:list|short story|story|poem))",
        r"^(?:please )?(?:always )?(?!compare|list|find|show|tell|describe|summari|upgrade|cancel|book|fix"
        r"|go\b|what|which|when|how|if\b|so\b|yes|no\b|enjoy|cherish|love|loved|thank|thanks|appreciate"
        r"|treasure|savor|like|after|with|about|of|for|in|is|at|from|to|not|i|we|it|and|but|that|on|as|over"
        r"|by|almost|nearly|just|even|has|have|had|was|are|you|they|he|she|take|make|live|hope|see|does|do"
        r"|did|will|would|went|through|during|get|got|best|above|despite|if|watch|congrats"
        r"|congratulations)[a-z]{1,30} (?:all|every|each|any) (?!the best|day|time|over|night|of (?:it|you"
        r"|us)|kinds|sorts|the time|that|this|moment|about|these|those|out|one|way|right|along|together"
        r"|other|thing)[a-z' -]{2,40} (?:in|as|with|without|by|to|on|before|after|using|under|below|at|for"
        r"|from|per|twice|into|through|against|first)\b",
        r"^^(?:please )?(?:leave|treat|consider|assume|count(?! me)|mark|sign|name|format|spell|label|prefix"
        r"|date|quote|cite|tag|address|title) (?:all|every|each|any|the|my|our|me|us|it|them|that|dates"
        r"|numbers|names|prices|sources|everything|files|code|[a-z/_.]{1,30}/)\b.{0,60}\b(?:as|alone|out"
        r"|untouched|unchanged|with|in|like|by|only|confidential|the way|after|from)\b",
        r"^(?:constraint|rule|requirement|important|policy|guideline|convention|hard rule|note|reminder"
        r"|warning|attention)s?(?: \d+)?: .",
        r"\bneeds? (?:my|our|your|his|her|[a-z]{1,30}'s|a second|prior|written) (?:approval|permission"
        r"|consent|sign-off|signature|review|okay)\b",
        r"\b(?:you|we|they|it) (?:are|is|'re|'s)? ?(?:not|never) (?:allowed|permitted) to\b",
        r"\byou (?:must|have to|are to) (?:always|never|not|only|use|ask|follow|keep|answer|write|check"
        r"|stick)\b",
    ),
    preference=(
        r"\bi (?:really |much |very much |generally |usually |always |strongly |would |definitely |still "
        r"|actually |personally |do |also ){0,4}(?:prefer(?! not to (?:think|say|talk"
        r"|know))|favou?r (?!of))\b",
        r"\bi'd (?:really |much |strongly )?prefer\b|\bi hate (?:it )?when (?:you|answers?|replies|texts?"
        r"|code|somebody|messages)\b",
        r"\b(?:my (?:[a-z]{1,20} )?[a-z]{1,20}|he|she)(?: is|'s) (?:a |an |strictly |also "
        r"|mostly )?(?:vegetarian|vegan|pescatarian|diabetic|celiac|coeliac|colou?r-?blind|dyslexic|deaf"
        r"|blind|left-handed|lactose|gluten|pregnant|claustrophobic|in a wheelchair)\b",
        r"\bi(?:'d| would) (?:much |really )?rather\b(?! be| not say| die| show| not\b)",
        r"\bmy (?:strong |clear |personal )?preference (?:is|would be)\b",
        r"\b(?:i|my (?:\w{1,30} )?(?:wife|husband|son|daughter|mother|father|mom|dad|mum|child|kids?|partner"
        r"|sister|brother|girlfriend|boyfriend|guests?|boss|client|customer|[a-z]{1,30}))(?:'m|'s| am| is"
        r"| are)(?: also| very| severely| highly| badly| deathly| quite| mildly)? (?:allergic|intolerant"
        r"|sensitive) to\b",
        r"\b(?:i|we|she|he|my [a-z]{1,30})(?:'ve| have| has|'ve got| got| suffer from"
        r"| suffers from)(?: got)? (?:a |an |bad |severe |mild |terrible |strong |serious"
        r" ){0,4}(?:[a-z]{1,30} )?(?:allergy|allergies|intolerance|diabetes|asthma|celiac|coeliac|phobia"
        r"|epilepsy)\b",
        r"\bi(?:'m| am) (?:a |an |a strict |strictly |mostly |legally |partially |left-|also a "
        r"|practically ){0,4}(?:vegetarian|vegan|pescatarian|diabetic|muslim|jewish|hindu|celiac|coeliac"
        r"|colou?r-?blind|dyslexic|deaf|blind|left-handed|handed|teetotal|teetotaller|lactose|gluten|kosher"
        r"|halal|pregnant|claustrophobic|wheelchair)\b",
        r"\b(?:i|we|she|he|my [a-z]{1,30}) (?:can't|cannot|can not|don't|do not|never|mustn't|must not"
        r"|shouldn't|doesn't|does not|am not allowed to|is not allowed to) (?:really |ever |usually )?(?:eat"
        r"|drink|tolerate|digest|fly|smoke|drive|wear) (?!me\b|you\b|home|to\b|there|by)",
        r"\bi (?:only|never|always) (?:eat|drink|work|fly|travel|use|speak|read|wear|buy|drive|take|have|cook"
        r"|pay|code|write|accept)\b",
        r"\b(?:i|we) (?:don't|do not|really don't|just don't) (?:like|use|work|eat|drink|drive|trust|allow"
        r"|accept|speak|want any|do any) (?!to (?:think|see|admit)|it\b|that\b|this\b|how|as\b|like|the way"
        r"|him|her|them|me\b|you\b|anymore|out\b|what)",
        r"\b(?:i|we) (?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear) (?!to\b"
        r"|that\b|this\b|being|having|feeling|it\b|how|when|seeing|myself|him|her|you|thinking|losing|not\b"
        r"|saying)[a-z]",
        r"\bi(?:'m| am) (?:more of a|not (?:a|much of a) (?:big |huge )?(?:fan|\w{1,30} person)"
        r"|not (?:really )?keen on|not comfortable with)\b",
        r"(?<!one of )\bmy (?:all-time |absolute |personal )?favou?rite [a-z]{1,30}(?: [a-z]{1,30})? (?:is"
        r"|are|will always be)\b",
        r"\bi (?:like|want|need|love) (?:my|your|all|the|every) (?:[a-z]{1,30} )?(?:answers?|repl(?:y|ies)"
        r"|responses?|code|coffee|tea|steak|meals?|summaries|messages|meetings|explanations|reports?|numbers"
        r"|dates|text|seats?)\b",
        r"\bi(?:'d| would|) ?(?:like|want|appreciate|prefer) (?:it )?(?:if you|when you|you to) (?:always"
        r"|never|only|not|kept|answered|answer|call|called|didn't|don't|stick|stuck|speak|avoid|skip)\b",
        r"\b(?:works?|suits?) (?:best|better) for (?:me|us)\b",
        r"\bi(?:'d| would)? (?:like|want|need|expect|prefer|ask) you to (?:always|never|only|not|be |stay"
        r"|keep|check|ask|use "
        r"|avoid|stick|treat|call me|speak|remember|double-check|tell me (?:when|if|before))",
        r"\bi(?:'d| would)? (?:like|want|need|prefer) (?:my|your|all) [a-z]{3,20}s (?:in|as|with|without"
        r"|to be|on|by|short|brief|sorted)\b",
        r"\b(?:wants to be (?:called|addressed|known|referred)|i want to be (?:called|addressed))\b",
        r"\b(?:i|she|he|my [a-z]{1,30}) reacts? badly to\b|\b(?:my [a-z]{1,30}|she|he|i) (?:won't"
        r"|will not) (?:eat|drink|take|touch|wear) [a-z]",
        r"\bmy (?:preferred|usual|default|go-to) [a-z]{2,20}(?: [a-z]{2,20})? (?:is|are)\b",
        r"\bi (?:take|drink|like|have) my (?:coffee|tea|eggs|steak|meat|whisky|wine) [a-z]",
        r"\b(?:i|she|he|my [a-z]{1,30})(?: have|'ve| has|'ve got)(?: got)? (?:a |an )?(?:[a-z]{1,20}"
        r" )?(?:heart condition|condition|disability|pacemaker|bad back|bad knee|hearing loss"
        r"|high blood pressure|chronic [a-z]{2,20})\b(?! (?:that|of|which))",
        r"\bmy (?:time ?zone|pronouns|native language|mother tongue|first language|working hours|office hours"
        r"|budget|blood type|size|shoe size|dietary \w{1,30}|diet) (?:is|are)\b",
        r"\b(?:i|we) (?:can|could) only (?!imagine|hope|wonder|guess|say|dream|wish)[a-z]",
        r"\b(?:i'm|i am|we're|we are) (?:only |never |not )(?:available|free|reachable|in the office"
        r"|working)\b",
        r"^^(?:please )?(?:remember|note|keep in mind|bear in mind|be aware|don't forget|do not forget"
        r"|never forget|take note|take into account|for the record|fyi|please note)(?: that (?!\w{1,30}ing\b"
        r"|no\b|life|every|sometimes|i'm here|i am here)|:| (?=i\b|i'm|i've|my|we|our)|, (?=i'm|i am|i have"
        r"|my|i can't|i don't)| [a-z]{1,30} (?:owns|is responsible|is allergic|is in charge|has|is on|is the"
        r"|lives|works|prefers|can't|cannot))(?!time|day|when|feeling|you|it's okay|first"
        r"|i'm (?:always )?here|i am here|i was|we were|i had)",
        r"\bkeep (?:that|this|it) in mind\b",
    ),
    name=(
        r"^^(?:please )?(?:just |always |simply )?call me (?!when|if|back|later|tomorrow|at|on|crazy|anytime"
        r"|any|tonight|today|once|before|after|in|as soon|and|or|for|about|to|up|out|asap|again)[a-z]",
        r"\b(?:my name is|my name's|i go by|i'm called|i am called|everyone calls me|everybody calls me"
        r"|people call me|friends call me|address me as|refer to me as|i'm known as)\b",
        r"^^(?:please )?(?:from now on,? |always )?(?:address|refer to) me\b",
    ),
    owner=(
        r"\b(?!i |we |you |who |they |my |your )[\w.'-]{1,30} (?:now |still |currently |alone "
        r"|fully )?owns (?:the"
        r"|all|our|this|that|it|every|everything)\b(?! (?:time|way|car|house|best|place))",
        r"\b(?:is|are|was made|will be|remains|becomes|be|as) (?:now |solely |the person |the one "
        r"|also )?(?:responsible|accountable|in charge|answerable) (?:for|of)\b",
        r"\b(?:is|becomes|remains|stays|as|will be) (?:now )?(?:the|our|your) (?:new |sole |main |only "
        r"|technical |project |product )?(?:owner|lead|contact|point of contact|contact person|reviewer"
        r"|maintainer|approver|product owner|admin|coordinator|decision maker) (?:of|for|on|in|at|there|here"
        r"|now)?\b",
        r"\b(?:has|have) the (?:final|last) (?:say|word)\b|\b(?!life |work )[a-z]{2,30} (?:takes|is taking"
        r"|will take|took) over (?:the|all|our|as)\b",
        r"\b(?!i |we |you |who |they |it )[\w.'-]{2,30} (?:handles|oversees|coordinates|is handling"
        r"|will handle|will be handling|will be looking after|will look after|will take care of"
        r"|is now looking after) (?:all|the|our|every|any)\b",
        r"\bis (?!that|this|it|there|what|he|she|who|let|here)[a-z]{2,20}(?:'s|s') (?:job|task"
        r"|responsibility|department|business|call)\b",
        r"\bresponsibility for [\w' -]{2,40} (?:moves|goes|passes|shifts|lies|rests)\b",
        r"\b(?:signs off (?:on )?|approves |handles |leads |looks after |takes care of |takes over |manages "
        r"|maintains |runs )(?:all|every|the|our|any) (?:[\w-]{1,30} )?(?:invoices?|migration"
        r"|contracts?|release|releases|deploy\w{0,30}|budget|payments?|orders?|project|infrastructure|design"
        r"|database|backend|frontend|api|accounts?|legal|press|support|bookings?|requests?|changes|expenses"
        r"|hiring|marketing|sales|website|documentation|docs|tests?|reviews?|billing|finances?)\b",
        r"\b(?:belongs|is assigned|are assigned|goes|is owned|is handled|are handled|is run|is managed) (?:to"
        r"|by) (?:the )?[\w'-]{1,30}(?: [\w'-]{1,30})?(?: team| group| department)?\.?$",
    ),
    deadline=(
        r"\b(?:deadline|due date|cut-?off(?: date)?|closing date|launch date|release date|target date"
        r"|delivery date|submission date|go-live(?: date)?|code freeze|feature freeze|freeze)\b.{0,50}\b(?:is"
        r"|are|was|on|by|until|remains|stays|at|has|starts|begins|ends|falls)\b",
        r"\b(?:is|are|be|'s) (?:all |now |still )?due (?:on|by|at|in|next|this|tomorrow|before|monday|tuesday"
        r"|wednesday|thursday|friday|saturday|sunday|back|the|end|today|no later)\b",
        r"\b(?:must|has to|have to|needs? to|should|shall|will|got to|is to|are to) (?:be|go|ship|finish"
        r"|launch|arrive|reach|land|get|leave|end|deliver|submit)\b.{0,50}\b(?:by|before|until|no later than"
        r"|not later than) (?:the |end|next|this|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
        r"|noon|midnight|tomorrow|tonight|january|february|march|april|may|june|july|august|september"
        r"|october|november|december|q\d|eod|cob|\d)",
        r"\b(?:no later than|not later than|at the latest)\b|\b(?:is|are) due (?:every|each)\b",
        r"\b(?:launch|release|meeting|review|demo|interview|go-live|kick-?off|delivery|presentation"
        r"|submission|exam|appointment|hearing|move|rollout)\b.{0,20}\b(?:is|are|was|were|has been|have been"
        r"|got)(?: now)? (?:set|scheduled|planned|fixed|moved|postponed|rescheduled) (?:for|to|on|until)\b",
        r"\b(?:expires?|ends?|closes?|runs out|launch(?:es)?|ships?|goes live|starts?"
        r"|begins?) on (?:the )?(?:\d|monday|tuesday|wednesday|thursday|friday|january|february|march|april"
        r"|may \d|june|july|august|september|october|november|december|first|second|third)",
    ),
    decision=(
        r"\b(?:we|the team|our team|the board|management|the group|everyone|everybody|both of us|us)(?:'ve|'d"
        r"| have| had)? (?:just |finally |all |both |also |now |already |jointly "
        r"|unanimously ){0,4}(?:decided"
        r"|agreed|chose|settled|opted|voted|concluded|resolved|committed)\b(?! (?:yet|to (?:go (?!with|for"
        r"|ahead)|take a (?:trip|walk|break|drive)|visit|meet|hang|have|grab|head|check out|try|walk|run|eat"
        r"|cook|watch|play|swim|travel|spend|relax|celebrate|adopt|use (?:this|that|the) (?:money|time))))",
        r"\bi(?:'ve| have) (?:just |finally |also |now |already ){0,4}(?:decided|settled on|opted"
        r"|agreed)\b(?! to (?:start|take|try|give|learn|join|go (?!with|for)|pursue|make|do|have|become|be"
        r"|live|spend|work on|focus))",
        r"\bi (?:decided|chose|settled|opted|picked) (?:on|against|for|that|not to|to (?:use|go with|keep"
        r"|drop|stay|stick|switch|stop|move to|cancel|postpone))\b",
        r"^^(?:then |ok |okay |yes |so )?(?:let's|lets|let us) (?:just |definitely |all "
        r"|then )?(?:go (?:with|for)|use|stick (?:to|with)|settle (?:on|for)|stay with|take (?:plan|option"
        r"|variant|version)|(?:pick|choose) (?:the|plan|option|variant|version|number)|drop|call it (?!a day"
        r"|quits)[a-z]{1,30} |do (?:it (?:like|this way)|plan|option)|not (?!forget|worry|let|give|get)"
        r"|postpone|switch to|agree (?:on|that|to)|keep (?:the (?!fun|good|momentum|spirit|memor"
        r"|conversation)|our (?!fingers|heads|eyes)|using))",
        r"\b(?:we|i)(?:'ll| will|'re| are|'m| am) (?:now |definitely |then |just |probably not"
        r" )?(?:go(?:ing)? with|stick(?:ing)? (?:to|with) (?!my|it\b|that\b)|settl(?:e|ing) on|dropping"
        r"|not (?:going to )?(?:use|support|using|supporting|ship|shipping)|standardi[sz](?:e|ing) on)\b"
        r"|\bwe(?:'ll| will) use\b",
        r"\b(?:we|i)(?:'ll| will|'re going to| are going to) (?!try|see|have|be |get"
        r"|just)[a-z]{2,20} [^.]{2,60}\binstead(?: of [a-z]|[.!]?$)",
        r"\bas (?:we |already )?(?:agreed|decided|settled)\b",
        r"\bmade up (?:my|our) minds?\b|: [^:]{2,40} it is[.!]?$"
        r"|\bso [a-z]{3,20}(?: [a-z]{2,20})? it is[.!]$",
        r"\bvoted?\b[\w ,-]{0,25} (?:in favou?r of|against)\b|\b(?:we|team|board|group|committee|family"
        r"|majority|everyone) (?:all |unanimously )?voted for\b",
        r"\bwe(?:'ve| have)? (?:fixed|set|capped|limited|frozen|froze) (?:the|our) [\w ]{2,30} (?:at|to|on"
        r"|for)\b",
        r"\bwe(?:'ve| have)? opted (?:out|for|against|in)\b|\bwe(?:'re| are) (?:done|finished"
        r"|through) with [a-z]{2,20},",
        r"\bit (?:was|has been) (?:settled|agreed|decided|resolved)\b.{0,40}\bthat\b",
        r"^^consider [^,:]{2,40} (?:closed|settled|decided|final)\b",
        r"\bwe(?:'ve| have)? (?:dropped|scrapped|abandoned|shelved|ditched|rejected|approved|adopted) (?:the"
        r"|our|that|this|all) (?:[a-z]{2,20} )?(?:plans?|ideas?|features?|projects?|options?|approach"
        r"|proposals?|schemes?|support|versions?|designs?)\b",
        r"\b(?:that|this|it|which) (?:won't|will not|cannot|is not going to|isn't going to) change\b",
        r"\b(?:final|our|the|my) (?:decision|choice|verdict|agreement|plan of record)(?: is| was|:)",
        r"^(?:decision|decided|agreed|approved|settled|chosen|resolution)(?::| that| to| on)",
        r"\b(?:i|we) (?:choose (?!to)|opt for|go with|approve|select)\b",
        r"\b(?:plan|option|variant|version|proposal|design|choice) [a-z0-9]\b.{0,20}\b(?:over|instead of"
        r"|it is|wins|not)\b",
        r"\bit(?:'s| is) (?:settled|decided|agreed|final|a deal)\b|\b(?:was|has been|were"
        r"|have been) (?:decided|agreed|approved|settled|rejected|ruled out)\b(?! (?:yet|by))(?<!how)",
        r"\bwe (?:won't|will not|are not going to|aren't going to|do not|don't) (?:support|use|ship|offer"
        r"|accept|sell|migrate|rewrite|touch|release|deploy|merge|hire)\b",
    ),
    change=(
        r"\bno longer\b|\bany more\b|\banymore\b|\bany longer\b",
        r"\b(?:is|are|was|were|been|got|gets) (?:now |hereby |officially )?(?:lifted|cancelled|canceled"
        r"|revoked|withdrawn|obsolete|void|dropped|scrapped|postponed|extended|moved|changed|pushed|shifted"
        r"|rescheduled|raised|lowered|increased|reduced|reassigned|over(?:turned|ruled)?|off(?: the table)?"
        r"|replaced|brought forward|handed over)\b",
        r"\b(?:moved|changed|postponed|pushed(?: back)?|extended|shifted|switched|brought forward|raised"
        r"|lowered|increased|reduced|renamed) (?:to|until|by|from|it|the|back)\b",
        r"\b(?:forget|scrap|disregard|ignore|drop|scratch|cancel|undo) (?:what|the|that|my|about|it"
        r"|everything|all)\b|\bnever mind (?:what|the|about)\b",
        r"\binstead\b|\bafter all\b|\bchanged my mind\b|\bcorrection\b|\bi meant\b|\bmake that\b|\bactually\b"
        r"|\brather than\b",
        r"\b(?:may|can|could|allowed to|free to|okay to|ok to|fine to)\b(?= .{0,60}\b(?:again|now"
        r"|after all)\b)|\byou (?:may|can|are allowed to|are free to)\b",
        r"\bnow\b|\bfrom (?:now|today|here) on\b|\bas of\b|\bhenceforth\b|\bno need to\b|\b(?:don't|do not"
        r"|doesn't|needn't) (?:have|need)\b",
    ),
    passing=(
        r"\b(?:give up|(?<!s )keep (?:up|going|it up|at it|pushing|shining|being|in touch|me posted"
        r"|me updated|on \w{1,30}ing|on|smiling|dreaming|believing|exploring|inspiring|spreading|an eye"
        r"|doing|making|\w{1,30}ing)|take care of yourself|believe in yourself|hang in there|have fun"
        r"|good luck|be yourself|look forward|cheer)\b",
        r"\b(?:right now|this time|just this once|not yet|yet)[.!]?$|\b(?:for now|for the moment"
        r"|at the moment|yourself|here for you|only imagine|go for it|(?:sticking|stick) with it|cheering"
        r"|going with this|there for (?:me|you|us)|i think i'll|i think i will|i guess|i was|i wish|i hope"
        r"|hope (?:you|it|to)|let me know|path i've|used to be|maybe|perhaps|might)\b",
        r"\bi(?:'ll| will) keep (?:that|it|this|you)\b|\bthanks\b|\bthank you\b|\bcongrat",
        r"\b(?:reminds? me|remind us|remember when|remember that (?:time|day|one)|i remember)\b",
        r"\b(?:must have|must've|must be nice|wouldn't|couldn't)\b.{0,10}\b(?:been|felt|so)\b",
        # What somebody else said, or is to happen in a story.
        r"^(?:he|she|they|we were told|i was told|somebody|someone|the (?:[a-z]{1,20} )?(?:error|message|log"
        r"|article|book|film|movie|text|page|story|compiler|warning|sign|joke|saying|song|player"
        r"|teacher))(?: just| always)?(?: says?| said| told| thinks?| thought| claims?| claimed| reads?"
        r"| wrote| complain\w{1,30}| insist\w{0,30})? (?:says?|said|that|it|we|i|me|us)\b(?! (?:may|must|can"
        r"|has|have|should|is|are)\b)",
        r"^(?:please )?(?:write|compose|invent|draft|create|generate|tell|describe|draw) (?:me |us )?an? "
        r"(?!.{0,200}\b(?:every|each|all|always|never|whenever)\b)|^(?:please )?imagine\b",
        r"\bfrom now on,? (?:the|my|his|her|this) [a-z]{1,20} (?:gets|got|becomes|became|goes|went|seems"
        r"|feels)\b",
        r"\b(?:which|it|that|this)(?:'s| was| is| were| made| felt) (?:so |really |pretty |quite |a |an "
        r"|such |me ){0,3}(?:lovely|great|fun|awesome|amazing|nice|sad|happy|cool|funny|relaxing|laugh|smile"
        r"|cry|proud)\b",
        r"\byou should know\b|\b(?:told|tells?) (?:my|his|her|their) [a-z]{1,20} (?:that|to|he|she|not)\b"
        r"|^(?:my|his|her) [a-z]{1,20} (?:always |once |used to )?(?:says?|said) (?:that )?",
        r"^(?:wow|whoa|aw+|oh wow|yay|hey|hi|hello|haha|lol|omg|cool|nice|awesome|great|amazing)\b",
    ),
    likely=(
        # Orders whose scope is a kind of thing rather than the thing at hand.
        r"^^(?:please )?(?:make|give|start|end|begin|open|close|finish|back|support|mark|check|read|test"
        r"|review|send|file|save|store|log|write|print|show|round|sort|date|sign|number|explain|translate"
        r"|keep|hold|run|name) (?:all|every|each|any) (?!day|moment|minute|second|time|night|one of)[a-z]",
        r"^^(?:please )?(?:translate|change|touch|edit|add|remove|delete|move|publish|post|send|share|commit"
        r"|merge|buy|book|sign|install|log|store|print|promise|quote|assume) (?:nothing|no) (?!one)",
        r"^^please [a-z]{2,20} .{3,80}\b(?:everywhere|throughout|each time|every time|in general"
        r"|consistently|formally|informally|politely|generally)[.!]?$",
        r"^(?:do|make|use|write|send|put|show|spell|format|give|work|go|move|change|ask|name|keep|apply"
        r"|repeat|commit|number|sign) .{3,80}(?:\b(?:everywhere|throughout|consistently|one at a time|at"
        r" a time)|\bone [a-z]{3,20} (?:each|per [a-z]{3,20}))[.!]?$",
        r"^(?:please )?(?:address|greet|approach|treat) (?:the |my |our |all )?[\w ]{2,20} (?:formally"
        r"|informally|politely|directly|with|by|as)\b",
        r"^^assume (?:a|an|that|no|we|the|i|every|all|people|everyone)\b",
        r"^^(?:please )?(?:prefer|favou?r|choose|pick) [a-z]",
        r"^^(?:please )?(?:stay|keep|steer) (?:away|clear|out|off|within|below|under|inside)\b",
        r"^^(?:please )?(?:take|treat|regard|see|read|view) .{2,40}\bas (?:read-only|final|given|the|a"
        r"|private|confidential|fixed|law)\b",
        r"^^(?:please )?(?:plan|allow|leave|reserve|budget|save|set aside) (?:at least |up to |about "
        r"|always )?(?:\d|one|two|three|four|five|ten|a|an|some|enough|room|time|space)\b.{0,30}\b(?:for"
        r"|between|before|after|per)\b",
        r"^if (?:a|an|any|some|something|anything|someone|somebody|anyone|anybody|no|nobody|two|there"
        r"|one|the|it|they) [^,]{3,60}, (?!i\b|i'|we\b|we'|you\b|you'|he\b|she\b|it\b|it's|they\b|that"
        r"|this|these|there|then (?:i|we|you|it)|what|how|the\b|a\b|an\b|is\b|are\b|can\b|do (?:i|we|you"
        r"|they)|does|did|would|will|could|should|my\b|our\b|maybe|people|let me|please let|so\b|and\b"
        r"|or\b|but\b|why|where|who|even)[a-z]",
        r"^(?:please )?(?:cap|handle|err|pretend|reply|run|book|order|put|ignore|hide|drop|ship|deploy|merge"
        r"|push|notify|cc|copy|charge|invoice|pay|pack|serve|water|feed|lock|label|tag|indent|credit|exclude"
        r"|omit|block|ban|restrict|schedule|reserve|target|trim|shorten|split|group|rank|prioriti[sz]e"
        r"|escalate|forward|archive|back up|track|monitor|measure|document|rename|apologi[sz]e|respond"
        r"|respect|honou?r|ensure|verify|consult|inform|quarantine|spell|abbreviate|capitali[sz]e|pin|freeze"
        r"|mask|redact|anonymi[sz]e|encrypt|batch|cache|throttle|retry|default|count|bill|date|stamp|water"
        r"|season|chill|refrigerate|cook|avoid|skip|check with|talk to|go through|stay|stick) (?!me\b|it\b"
        r"|you\b|this\b|that\b|through\b|up\b|out\b|strong|positive|tuned|motivated|focused|true|safe|well"
        r"|calm|warm|curious|healthy|active|connected|in touch)[^!?]{4,120}[^!?]$",
        r"^(?:just|only|simply) (?:the|a|one|plain|facts|numbers|text|code) [\w' -]{0,30}, (?:no|not"
        r"|without|never)\b",
        # What things do or are as a rule, without anybody telling a story.
        r"^(?:it|this|that|everything|all of it|the whole thing|whatever we \w{2,20}) (?:has|have|needs?"
        r"|ought) to (?:work|run|fit|stay|pass|support|load|sound|look|last|read|show|survive|end|start"
        r"|arrive|come|go|cost|match|be (?:ready|done|finished|there|in|on|under|below|at|by|accessible"
        r"|readable|printed|signed|tested))\b",
        r"\b(?:the|our|all|every|my|these) [\w' -]{2,40} (?:has|have|needs?) to (?:survive|exist|compile"
        r"|build|last|hold|appear|arrive|happen|finish|live|know|see|sign|approve|agree|say|name|link"
        r"|open|close|add up|load|print|balance|wait)\b",
        r"^(?:the |our |all |my )?[\w'-]{2,20}(?: [\w'-]{2,20}){0,2}s (?:need|require|take|carry|bear"
        r"|get|come|end|start|open|close|begin|run|stop|live|belong|sit|stay|go|happen|count|apply"
        r"|expire|work) (?:the|a|an|at|at least|two|three|one|my|our|in|into|on|onto|under|beside|next"
        r" to|out|to|with|without|before|after|from|until|by|only|no)\b",
        r"^(?!i |we |they |you |she |he |it |that |this |there |who |what )[\w' -]{3,40} (?:is|are)"
        r" (?:spelled|spelt|written|given|rounded|shown|printed|typed|capitali[sz]ed|abbreviated|counted"
        r"|billed|paid|charged|measured|named|numbered|sent|signed|stored|kept|held|reviewed|approved"
        r"|handled|done|reported|booked|tracked|published|versioned|tagged|formatted|indented|translated"
        r"|called) (?:out|in|as|with|to|without|by|on|at|from|after|before|only|twice|once|every|every"
        r"|monthly|weekly|daily)\b",
        r"^(?:our|the) (?:fiscal|financial|business|school|working|office|opening|support|billing"
        r"|release|sprint) (?:year|week|day|days|hours|cycle|period|times?)\b.{0,30}\b(?:begins?|starts?"
        r"|ends?|runs?|is|are|lasts?)\b",
        r"^(?:every|each) (?:other |second |first |last )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
        r" (?:is|stays|remains|belongs)\b",
        r"^(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days? (?:is|are|stays?|remains?) [\w -]{3,40}[.]?$",
        r"^[a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})? (?:reviews|approves|handles|signs|owns|manages"
        r"|checks|maintains|decides|leads|covers|supervises|has the (?:last|final) (?:word|say)|looks"
        r" after|takes care of) (?:all|every|everything|each|any|the|our|what|who|when|whether|off|on)\b",
        r"^(?:for|with|about|regarding|on) (?:anything|everything|all|any|questions?|problems?|issues?)"
        r" [^,]{0,40}, (?:please )?(?:loop|involve|include|cc|bring|check|use|go|see|ask|contact|write"
        r"|call|talk|speak|wait)\b",
        r"\brules? out\b|\bis (?:taken|spoken for|a given|set in stone|final|fixed|frozen|settled"
        r"|non-negotiable)[.!]?$",
        r"\b(?:you|we|they|nobody|they) (?:do not|don't|doesn't|has no|have no) (?:have )?(?:any |the"
        r" )?(?:permission|right|authority|budget|mandate|clearance) to\b",
        r"\b(?:belongs?|goes|go) (?:in|into|under|on|to|at|below|beside|next to) (?:the |our |a |an |one"
        r" |its |their )?[\w/.'-]{2,30}(?: [\w/.'-]{2,20}){0,2}, (?:even|not|never|no matter|whatever"
        r"|however)\b",
        r"^(?:comments|names|titles|headings|files|docs|notes|logs|secrets|keys|tests|images|pictures"
        r"|photos|invoices|receipts|numbers|dates|prices|links|sources|quotes|footnotes|answers|replies"
        r"|meetings|mails|emails|tickets|releases|changes|commits|branches|backups|reports|drafts"
        r"|passwords|credentials|migrations|fixtures|variables|constants|tables|charts|figures|examples"
        r"|requests|orders|payments|refunds|guests|visitors|customers|users|clients|readers|contractors"
        r"|interns) (?!i\b|we\b|that\b|which\b|who\b|you\b|were\b|was\b|had\b)[a-z]",
        r"^(?!.{0,80}\b(?:i|i'\w{1,2}|me|my|mine|us|you|your|it's|let's|it|who|that|those|what|when|hope"
        r"|glad|can|really|others|their|seeing)\b)[\w' -]{3,50} (?:get|gets|ship|ships|defaults? to|(?:is"
        r"|are) (?:due|paid|published|free)|counts? as|stays? (?:in|with)|remains? with|goes through"
        r"|runs? on|takes precedence|comes? (?:before|after)|rides? free|opens? at|closes? at)\b (?!better"
        r"|worse|me|married|old|so|really|along|well|back|boring|easier|harder|tough)[\w' -]{2,60}[.]?$",
        r"^(?:the|our|my) (?:house|company|team|project|code|writing|brand|family) (?:style|rule"
        r"|standard|colou?rs?|language|motto|policy|tradition|limit|budget) (?:is|are)\b",
        r"\byou (?:report|answer|defer|reply|write) to [a-z]",
        r"\b(?:can't|cannot|may not|must not|won't) leave (?:the|our|this|my) [a-z]",
        r"\bso (?:nothing|no [a-z]{3,20}|never|only|not) (?:on|in|at|before|after|for|with|from|until"
        r"|during)\b|, so it's not for\b",
        r"^for [\w' -]{2,40} we (?:only|always|never|use|buy|take|pay|send|write|need)\b",
        # What was chosen, and how it shall be.
        r"^^let's (?:call|name|say|aim|plan|set|put|treat|schedule|leave|limit|target|meet|go) (?:the"
        r"|our|this|it|that|for|with|on|at|every|all|no|things)\b",
        r"\bwe(?:'ve| have)? (?:went|gone) (?:for|with) (?:option|plan|version|variant|design|approach"
        r"|number|model|proposal|the (?:first|second|third|last|cheaper|cheapest|bigger|smaller|larger"
        r"|other|simpler|simple|old|new|blue|red|green|white|black))\b",
        r"\bwe(?:'ve| have)? (?:picked|chose|chosen|took|selected|voted for|opted for) [\w' -]{2,40}(?:"
        r" over| instead| for the| rather)\b|\bwe(?:'ll| will|'re going to) (?:stay|stick|go|keep"
        r"|remain) (?:with|to|on|at|using)\b|^the (?:vote|decision|verdict|choice) (?:was|is|fell|went)\b",
        r"^i (?:want|need|expect|insist on|like) [\w' -]{3,40} (?:throughout|everywhere|across|at all"
        r" times|in (?:all|every|each|this|our|the (?:report|code|text|app|book)))\b",
        r"^(?:i|we) (?:want|need|expect|require) (?:the|all|every|each|our|any|no) [\w' -]{2,40} (?:to"
        r"|in|as|by|on|with|without|before|under|within)\b",
        r"^(?:the|our) (?:tone|style|voice|format|language|audience|target|budget|scope|plan|name|title"
        r"|deadline|launch|release|default|currency|timezone|time zone|order|limit|colou?r|font|layout"
        r"|unit|version|password|stack|database|framework|theme|venue|motto|slogan)\b[\w ]{0,20} (?:is"
        r"|are|will be|stays|remains|should|must|has|shall)\b",
        r"^(?:target|tone|style|voice|format|language|audience|scope|goal|currency|units?|time ?zone"
        r"|budget|deadline|theme|stack)\s?[:=-] ?\S",
        r"^(?:nobody|no one|nothing|none of|neither|no (?!doubt|wonder|words)[a-z]{3,20}) (?!better"
        r"|\w{1,30}ed\b|was|were|had|did|came|went|knew|said|saw|got|could|would|really|else|knows|cares"
        r"|beats|like|is perfect|can|worries|problem|way|idea|doubt|one|matter|thanks)[a-z]",
        r"^(?!i |i'|we |they |you |she |he |it |that |this |there )[\w' -]{3,50} (?:may|must|shall"
        r"|should|has to|have to|needs to|need to|are to|cannot|may not) (?!have|be (?:so|very|really|a"
        r" lot|fun|great|hard|tough|such|amazing|challenging|difficult)|feel|make|help|bring|have been"
        r"|take|teach|really|get|happen|lead|give)[a-z]",
        r"\bi(?:'m| am) (?:on|using|running|based in|in (?:the )?[a-z]+ (?:time|timezone)|not allowed"
        r"|not available|unavailable|away|off|free|out) (?:on|until|every|only|windows|linux|mac\w*"
        r"|android|ios|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?)\b",
        r"\bi (?:can't|cannot|don't|never|won't) (?:do|take|make|have|work|meet|accept|read|open|use"
        r"|travel|attend) (?!it\b|that\b|this\b|much|a lot|anything|with you|without|any(?:thing)?"
        r" (?:more|better))[a-z]",
        r"\b(?:in case|if|when|whenever) you (?:order|cook|book|write|send|plan|call|buy|reply|answer"
        r"|pick|choose|quote|mention)\b",
    ),
)

GERMAN = Forms(
    rule=(
        r"^^halte? dich (?:an|kurz|immer)\b|\bniemand (?:darf|soll|außer)\b",
        r"\b(?:niemals|auf keinen fall|keinesfalls|unter keinen umständen|ausnahmslos|ohne ausnahme"
        r"|grundsätzlich|in jedem fall|auf jeden fall nur|bis auf weiteres)\b",
        r"\b(?:ab (?:sofort|jetzt|heute|morgen|nun)|von (?:jetzt|nun|heute) an|in zukunft|künftig|zukünftig"
        r"|fortan)\b",
        r"^^(?:bitte )?(?!ich |wir |er |sie |es |das )[a-zäöüß]{1,30}(?:e|t|en sie)?(?: mich| mir| uns"
        r"| bitte| dich"
        r"| die| das| den| alle| alles| texte| daten){0,4} (?:immer|nie|stets|nur|ausschließlich)\b",
        r"^^(?:bitte )?(?:verwende|verwend|benutze|benutz|nutze|nutz|nimm|schreib|schreibe|schick|schicke"
        r"|sende|lösche|lösch|ändere|änder|installiere|installier|erwähne|erwähn|nenne|nenn|antworte|mach"
        r"|mache|gib|fass|fasse|führe|führ|lege|leg|setze|setz|stelle|stell|zeige|zeig|rufe|ruf|buche|buch"
        r"|kaufe|kauf|teile|teil|pushe|push|committe|deploye|übersetze|kürze|erkläre|kopiere"
        r"|lass)(?: \S+){0,7}? (?:kein|keine|keinen|keinem|keiner|nicht|nie|nur|immer"
        r"|ohne)\b(?! mehr weiter)",
        r"\b(?:muss|müssen|musst|müsst)\b(?! (?:ich|wir) )(?!.{0,40}\b(?:los|weg|gehen|schön|toll|super"
        r"|anstrengend|gewesen sein)\b)(?<!ich muss)(?<!wir müssen los)",
        r"\b(?:darf|dürfen|darfst|dürft)\b.{0,80}\b(?:nicht|nie|nur|kein|keine|keinen|keinem|höchstens"
        r"|maximal|keinesfalls|niemand)\b",
        r"\b(?:niemand|nichts|kein\w{0,30}) .{0,30}\bdarf\b|\bdarf (?:niemand|nichts|kein\w{0,30}|nur)\b",
        r"\b(?:soll|sollst|sollen|sollte|sollten|sollt)\b.{0,60}\b(?:nicht|nie|nur|immer|kein|keine|keinen"
        r"|stets|höchstens|jede\w{0,30}|alle)\b",
        r"\b(?:ist|sind|hat|haben|bleibt|bleiben)\b.{0,40}\b(?:verboten|untersagt|tabu|nicht erlaubt"
        r"|nicht gestattet|pflicht|verpflichtend|zwingend|vertraulich|anzugeben|einzuhalten|zu vermeiden"
        r"|zu verwenden|zu nennen|zu schreiben)\b",
        r"\b(?:jede|jeder|jedes|jeden|alle)\b .{1,40}?\b(?:braucht|brauchen|muss|müssen|bekommt|soll|sollen"
        r"|benötigt|hat zu|haben zu|gehört|wird|werden)\b",
        r"\b(?:frag|frage|fragt|sprich|kläre|informiere|sag|warte)\b.{0,60}\b(?:bevor|vorher|zuerst|erst)\b"
        r"|\bohne (?:mich|meine|unsere|vorherige|rücksprache|zustimmung|freigabe|genehmigung)\b",
        r"\b(?:stell|stelle) sicher\b|\b(?:sorge|sorg) dafür\b|\b(?:achte|acht) (?:bitte |immer "
        r"|stets )?darauf\b|\bvergewissere dich\b",
        r"\b(?:bevor|ehe) du\b.{0,80}\b(?:frag|prüf|sprich|teste|lass|sag|lies|kläre)\w{0,30}\b",
        r"^(?:wenn|falls|sobald|immer wenn|jedes mal,? wenn) .{3,80}, (?:dann |bitte )?(?:füge|schreib|frag"
        r"|nimm|gib|nenn|zeig|verwend|benutz|runde|sag|setz|stell|mach|lass|prüf|warte|antworte)\w{0,30}\b",
        r"\b(?:höchstens|maximal|mindestens|nicht mehr als|nicht länger als|nicht über)\b.{0,40}(?:\d"
        r"|\b(?:euro|seiten?|zeilen|wörter|minuten|stunden|tage|zeichen|personen)\b)",
        r"^^(?:bitte )?(?:vermeide|vermeid|verzichte auf|beschränke dich|halte dich an|halt dich an|bleib bei"
        r"|bleibe bei|duze|siez|sieze|duz|antworte|antwort) ",
        r"\b(?:keine|kein) [a-zäöüß]{1,30}.{0,30}\b(?:am|an|im|in|vor|nach|ohne|während|statt|auf|bitte"
        r"|montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags)\b(?<!ahnung)",
        r"\b(?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags)\b.{0,40}\b(?:kein|keine"
        r"|keinen|nicht|nie|nur)\b",
        r"\b(?:budget|limit|obergrenze|höchstgrenze|maximum)\b.{0,40}\b(?:ist|beträgt|liegt|bleibt|darf"
        r"|gilt)\b",
        r"^(?:regel|wichtig|vorgabe|bedingung|auflage|hinweis)(?: \d+)?: .|\bes ist (?:sehr |absolut "
        r"|extrem )?(?:wichtig|zwingend|entscheidend|notwendig|unerlässlich), dass\b|\bich (?:will|möchte"
        r"|erwarte|verlange|wünsche mir),? (?:nicht, )?dass\b",
        r"\bich (?:will|möchte) (?:keine|keinen|kein|nicht|nie)\b",
    ),
    preference=(
        r"\bich (?:\w{1,30} )?(?:bevorzuge|ziehe .{2,40} vor|hasse|verabscheue)\b"
        r"|\bich (?:\w{1,30} ){0,2}lieber\b"
        r"|\b(?:ist|sind|wäre|wären) mir (?:\w{1,30} )?lieber\b|\bmir (?:ist|sind) .{2,40} lieber\b",
        r"\bich mag (?:\w{1,30} ){0,3}(?:kein|keine|keinen|nicht|nur|lieber)\b|\bich (?:esse|trinke|vertrage"
        r"|benutze|nutze|verwende|rauche|fliege|arbeite|fahre|spreche)\b.{0,40}\b(?:kein|keine|keinen|nicht"
        r"|nie|nur|niemals)\b",
        r"\b(?:ich bin|ist|sind|meine? \w{1,30} ist|wir sind) .{0,20}(?:allergisch|vegetarier|vegetarierin"
        r"|veganer|veganerin|diabetiker|diabetikerin|schwerhörig|blind|farbenblind|linkshänder"
        r"|laktoseintolerant|schwanger)\b|\b(?:hat|habe|haben) (?:eine |starke |ein"
        r" ){0,4}\w{0,30}(?:allergie|unverträglichkeit|intoleranz|diabetes|asthma|zöliakie)\b",
        r"\b(?:merk|merke) dir\b|^^(?:bitte )?(?:denk|denke) (?:bitte |immer )?(?:daran|dran)\b"
        r"|\bvergiss (?:bitte |nie |niemals )?nicht, dass\b|^^(?:bitte )?(?:beachte|bedenke|wisse"
        r"|berücksichtige)\b",
        r"\bmeine? (?:lieblings\w{1,30}|zeitzone|pronomen|muttersprache|arbeitszeiten|budget) (?:ist|sind)\b"
        r"|\bpasst mir (?:am besten|besser|nicht)\b",
    ),
    name=(
        r"\b(?:nenn|nenne|nennt|nennen sie) mich\b|\bich heiße\b|\bmein name ist\b|\balle nennen mich\b"
        r"|\bsag (?:einfach )?\w{1,30} zu mir\b|\bsprich mich\b",
    ),
    owner=(
        r"\b(?:zuständig|verantwortlich)\b|\bkümmert sich\b|\bist .{0,30}\b(?:ansprechpartner"
        r"|ansprechpartnerin|eigentümer|leiter|leiterin|projektleiter|projektleiterin)\b|\b(?:verantwortet"
        r"|betreut|leitet|übernimmt) (?:die|das|den|alle|ab)\b",
    ),
    deadline=(
        r"\b(?:abzugeben|einzureichen)\b",
        r"\b(?:abgabefrist|frist|deadline|abgabetermin|stichtag|einsendeschluss|redaktionsschluss|abgabe"
        r"|termin|liefertermin)\b.{0,40}\b(?:ist|endet|läuft|liegt|bis|am|bleibt)\b|\b(?:spätestens|fällig)\b"
        r"|\bbis (?:zum|spätestens|ende|montag|dienstag|mittwoch|donnerstag|freitag|samstag"
        r"|sonntag)\b.{0,60}\b(?:fertig|abgeben|abgegeben|da sein|liefern|geliefert|erledigt|stehen|sein"
        r"|vorliegen)\b",
    ),
    decision=(
        r"\b(?:beschlossen|entschieden|vereinbart|geeinigt|festgelegt|abgemacht|ausgemacht)\b|\bwir (?:nehmen"
        r"|bleiben bei|machen|einigten|entschieden|setzen auf|verwenden|gehen mit|verzichten)\b|\b(?:lass"
        r"|lasst) uns (?:bei|das|die|den|mit|nur|lieber|doch|\w{1,30} nehmen)\b|\b(?:bleiben|nehmen"
        r"|machen) wir\b(?!.{0,60}\?)|\b(?:unsere|die) entscheidung\b",
    ),
    change=(
        r"\b(?:nicht mehr|kein\w{0,30} .{0,20}mehr|jetzt|nun|ab jetzt|statt|stattdessen|anstelle|doch"
        r"|aufgehoben|verschoben|geändert|hinfällig|wieder|abgesagt|nicht länger|vergiss|korrektur|neu|neuer"
        r"|neues|neue|ab sofort)\b",
    ),
    passing=(
        r"^(?:danke|super|toll|cool|wow|oh|hallo)\b(?!.{0,20}bitte)|\b(?:gestern|damals|letzte woche"
        r"|letztes jahr)\b|\bhätte\b",
        r"\bich habe? (?:noch )?nie\b|\bich muss (?:los|weg|jetzt|noch|gleich)\b|\bkeine (?:ahnung|sorge"
        r"|angst|zeit)\b",
    ),
)
FRENCH = Forms(
    rule=(
        r"\bpersonne ne (?:doit|peut)\b|\b(?:tutoie|vouvoie|tutoyez|vouvoyez)-(?:moi|nous)\b"
        r"|\bj\'aimerais que tu (?:sois|utilises|écrives|répondes|restes)\b|^^donne(?:z)?-(?:moi"
        r"|nous) (?:seulement|uniquement|juste)\b",
        r"\b(?:à partir de maintenant|à partir d'aujourd'hui|à partir de (?:lundi|demain)|dorénavant"
        r"|désormais|en aucun cas|sous aucun prétexte|en aucune circonstance|sans exception"
        r"|jusqu'à nouvel ordre|à l'avenir)\b",
        r"(?:^^|\b)(?:ne |n')(?!ai|as|a\b|est|étai|avai|avons|ont|aurai|y |en |suis|sais|pense"
        r"|crois)[a-zéèêàâîôûç]{1,30}(?:-\w{1,30})?(?: \w{1,30})? (?:jamais|pas|plus|rien|aucun|aucune"
        r"|que)\b(?<!n'est pas)",
        r"^^(?:s'il (?:te|vous) plaît,? )?[a-zéèêàâîôûç]{1,30}(?:-\w{1,30})? (?:toujours|uniquement|seulement"
        r"|systématiquement)\b",
        r"\b(?:ne )?(?:doit|doivent|devez|devra|devront)\b(?! être (?:dur|super|génial|content|fier"
        r"|difficile))(?<!je doit)",
        r"\btu (?:ne )?dois\b|\bon (?:ne )?doit\b|\bil (?:ne )?faut\b(?! que j)|\bil est (?:strictement "
        r"|formellement )?(?:interdit|obligatoire|essentiel|impératif|défendu|indispensable|important)\b"
        r"|\b(?:est|sont) (?:strictement |formellement )?(?:interdit|obligatoire|proscrit|prohibé"
        r"|confidentiel|plafonné|limité)\w{0,30}\b",
        r"\b(?:demande|demandez|consulte|préviens|prévenez|vérifie|vérifiez|parle|attends)\b.{0,50}\bavant\b"
        r"|\b(?:demande|demandez)-(?:moi|nous)\b.{0,40}\bavant\b|\bsans (?:mon|ma|notre|me|nous|l'accord"
        r"|autorisation|permission|demander)\b",
        r"\b(?:veille|veillez) (?:toujours )?à\b|\b(?:assure-toi|assurez-vous|fais en sorte"
        r"|faites en sorte)\b",
        r"\b(?:chaque|tous les|toutes les|tout) .{1,40}?\b(?:doit|doivent|faut|nécessite|a besoin|ont besoin"
        r"|devra)\b",
        r"^(?:s'il (?:te|vous) plaît,? )?(?:pas|plus|aucun|aucune) (?!mal|de souci|de problème|grave|du tout"
        r"|vraiment|encore|tout à fait)(?:de |d')?.{2,40}\b(?:le|la|les|en|dans|avant|après|sans|pendant|sur"
        r"|s'il)\b",
        r"^(?:quand|lorsque|si|chaque fois que|à chaque fois que|dès que) (?:tu|vous|on"
        r"|quelqu'un) .{3,80}, (?:ajoute|écris|demande|utilise|mets|donne|fais|préviens|montre|indique|cite"
        r"|arrête|vérifie|laisse)\w{0,30}\b",
        r"^^(?:évite|évitez|utilise (?:toujours|uniquement|plutôt|le système)|tiens-toi|tenez-vous|limite-toi"
        r"|réponds|répondez|tutoie|vouvoie|respecte|respectez|privilégie|n'hésite pas à toujours) ",
        r"\b(?:au maximum|maximum|pas plus de|au plus|au moins)\b.{0,40}(?:\d|\b(?:euros?|pages?|lignes?|mots"
        r"|minutes|heures|jours)\b)|\b(?:budget|limite|plafond)\b.{0,40}\b(?:est|reste|s'élève)\b",
        r"^(?:règle|important|contrainte|consigne|condition)(?: \d+)? ?: .|\bje (?:veux|souhaite|exige"
        r"|voudrais) (?:que|toujours|uniquement)\b|\bje ne veux (?:pas|plus|aucun|jamais)\b",
    ),
    preference=(
        r"\bje (?:\w{1,30} )?préfère\b|\bje préférerais\b|\bj'aime mieux\b|\bma préférence\b|\bje déteste\b"
        r"|\bje n'aime pas\b",
        r"\bje (?:ne )?(?:mange|bois|fume|supporte|tolère|travaille|prends|conduis|parle|peux) (?:pas|jamais"
        r"|que|plus|aucun)\b|\bje ne peux pas (?:manger|boire|prendre)\b",
        r"\b(?:suis|est|sont) (?:très |gravement )?(?:allergique|végétarien|végétarienne|végan|végane|vegan"
        r"|intolérant|intolérante|diabétique|sourd|aveugle|daltonien|gaucher|enceinte|musulman|musulmane)\b"
        r"|\b(?:j'ai|a) une (?:allergie|intolérance)\b",
        r"\b(?:souviens-toi|souvenez-vous|rappelle-toi|n'oublie pas|n'oubliez pas|retiens|retenez|sache"
        r"|sachez|note bien|garde à l'esprit|gardez à l'esprit|prends note)\b(?! de me)",
    ),
    name=(
        r"\b(?:appelle-moi|appelez-moi|je m'appelle|mon nom est|on m'appelle"
        r"|tout le monde m'appelle)\b(?! (?:quand|si|demain|ce soir|plus tard|dès))",
    ),
    owner=(
        r"\b(?:s'occupe|s'occupera) (?:de|des|du|d')|\b(?:est|sera|reste) (?:\w{1,30} )?(?:responsable"
        r"|en charge"
        r"|chargée?|le contact|la personne)\b|\bresponsable (?:de|des|du|d')|\bgère (?:les|la|le|tous)\b",
    ),
    deadline=(
        r"\b(?:date limite|échéance|délai|date butoir|deadline)\b.{0,50}\b(?:est|expire|au|le|reste|fixée?"
        r"|tombe)\b|\b(?:au plus tard|à rendre (?:pour|avant|le))\b|\b(?:doit|faut|devra).{0,50}\b(?:avant le"
        r"|d'ici)\b",
    ),
    decision=(
        r"\b(?:nous avons|on a|j'ai) (?:\w{1,30} )?(?:décidé|convenu|choisi|opté|retenu|tranché)\b"
        r"|^^(?:alors )?(?:restons|partons|gardons|prenons|allons-y|optons|utilisons) (?:sur|avec|le|la|les"
        r"|pour|à|au)\b|\bon (?:part sur|reste sur|garde|prend|choisit|va utiliser)\b|\b(?:la|notre"
        r"|ma) décision (?:est|:)|\bil (?:a été|est) (?:décidé|convenu)\b|\bva pour\b",
    ),
    change=(
        r"\b(?:ne .{1,30} plus|n'.{1,30} plus|maintenant|désormais|plutôt que|au lieu|à la place|finalement"
        r"|levée?|annulée?|reportée?|repoussée?|changée?|oublie ce|de nouveau|déplacée?)\b",
    ),
    passing=(
        r"^(?:merci|super|génial|bonjour|salut|oh|wow)\b|\b(?:hier|la semaine dernière|l'année dernière)\b"
        r"|\bje (?:ne|n') ?(?:sais|pense|crois|suis) (?:pas|plus)\b|\bce n'est pas (?:grave|un problème)\b",
    ),
)
SPANISH = Forms(
    rule=(
        r"\bnadie (?:puede|debe|toca|más)\b|^^(?:trátame|trátenme) |\bquiero que todo",
        r"\b(?:a partir de (?:ahora|hoy|mañana|este momento)|de ahora en adelante|en adelante|bajo ning(?:ún"
        r"|una) \w{1,30}|en ningún caso|sin excepci(?:ón|ones)|hasta nuevo aviso|de ninguna manera"
        r"|en lo sucesivo)\b",
        r"^^(?:por favor,? )?(?:nunca|jamás|siempre) (?!he|había|pensé|quise|me |te |es|fue|era|ha "
        r"|hay)[a-záéíóúñ]{1,30}",
        r"^^(?:por favor,? )?[a-záéíóúñ]{1,30}(?:me|nos|lo|la|los|las)? (?:siempre|solo|sólo|únicamente"
        r"|solamente)\b(?<!yo siempre)",
        r"^^(?:por favor,? )?no (?!sé|es|está|hay|he|ha|me|te|se|lo |la |puedo|tengo|creo|quiero|importa"
        r"|pasa|soy|fue|era|estoy|voy|pude|tiene|había|entiendo|olvides|vamos)[a-záéíóúñ]{1,30}(?:e|es|en|as"
        r"|a|an|áis|éis)s?\b",
        r"\b(?:no )?(?:debe|deben|debes|deberá|deberán|debéis)\b(?! (?:ser (?:difícil|genial|duro|increíble)"
        r"|haber))|\b(?:tiene|tienen|tienes|tenéis) que (?:ser|tener|estar|llevar|incluir|usar|quedar|ir"
        r"|pasar|contener|seguir)\b|\b(?:no )?hay que\b|\bno se (?:puede|debe|permite)\b|\b(?:está|es|están"
        r"|son|queda|quedan) (?:estrictamente |totalmente |terminantemente )?(?:prohibid|obligatori"
        r"|imprescindible|confidencial|limitad)\w{0,30}",
        r"\b(?:pregúntame|pregunta|consulta|consúltame|avísame|avisa|confirma|habla|espera|verifica"
        r"|revisa)\b.{0,50}\bantes\b|\bsin (?:mi|nuestra|nuestro|permiso|autorización|consultar|avisar"
        r"|preguntar)\b",
        r"\b(?:asegúrate|asegúrese|asegúrense|procura|cuida) (?:siempre )?(?:de )?que\b",
        r"\b(?:cada|todos los|todas las|todo|toda) .{1,40}?\b(?:debe|deben|tiene que|tienen que|necesita"
        r"|necesitan|lleva|llevan|requiere)\b",
        r"\b(?:los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos))\b.{0,30}\bno\b"
        r"|^nada de .{3,40}\b(?:en|los|las|antes|después|sin|por)\b|\bno hay (?:reuniones|llamadas|cambios"
        r"|despliegues)\b|^^(?:por favor,? )?(?:sin|ningún|ninguna) \w{1,30} (?:en|los|antes|por|para|de)\b",
        r"^(?:cuando|si|siempre que|cada vez que) .{3,80}, (?:añade|escribe|pregunta|usa|pon|da|haz|avisa"
        r"|muestra|indica|incluye|cita|deja|responde)\w{0,30}\b",
        r"^^(?:por favor,? )?(?:evita|evite|usa (?:solo|siempre|el sistema)|cíñete|limítate|responde|contesta"
        r"|tutéame|trátame|respeta|mantén|utiliza (?:solo|siempre)) ",
        r"\b(?:como máximo|no más de|al menos|como mínimo)\b.{0,40}(?:\d|\b(?:euros?|páginas?|líneas?"
        r"|palabras|minutos|horas|días)\b)|\b(?:presupuesto|límite)\b.{0,40}\b(?:es|está|queda)\b",
        r"^(?:regla|importante|condición|norma|restricción)(?: \d+)?: .|\bquiero que (?:siempre|nunca|solo|no"
        r"|me|todos|uses|respondas|escribas)\b|\bno quiero (?:que|ningún|ninguna|más|ver)\b"
        r"|\bes (?:muy )?(?:importante|esencial|imprescindible|fundamental) que\b",
    ),
    preference=(
        r"\b(?:yo )?prefiero\b|\bpreferiría\b|\bme gusta(?:n|ría)? más\b|\bno me gusta(?:n)?\b"
        r"|\bodio (?!que me)\w{1,30}|\bmi preferencia\b",
        r"\b(?:no|nunca|solo|sólo) (?:como|bebo|tomo|fumo|tolero|uso|trabajo|conduzco|hablo)\b"
        r"|\bno puedo (?:comer|beber|tomar)\b",
        r"\b(?:soy|es|son) (?:muy )?(?:alérgic|vegetarian|vegan|celíac|diabétic|intolerante|sord|cieg"
        r"|daltónic|zurd|musulm)\w{0,30}|\b(?:tengo|tiene) (?:una )?(?:alergia|intolerancia|diabetes)\b",
        r"^^(?:por favor,? )?(?:recuerda|recuerden|ten en cuenta|tenga en cuenta|ten presente|no olvides"
        r"|no olvidéis|apunta|toma nota de) que\b",
    ),
    name=(
        r"\b(?:llámame|llamadme|llámenme|dime|me llamo|mi nombre es|todos me llaman"
        r"|todos me dicen)\b(?! (?:si"
        r"|cuando|qué|que|cómo|mañana|luego|por|dónde|algo|más|la|lo|las|los|una?|cuál))",
    ),
    owner=(
        r"\bse (?:encarga|ocupa|encargará|ocupará) de\b|\b(?:es|será|sigue siendo) (?:la "
        r"|el )?(?:responsable|encargad[oa]|persona de contacto)\b|\b(?:está|queda) a cargo de\b"
        r"|\bresponsable de\b|\blleva (?:las|los|el tema|la parte)\b",
    ),
    deadline=(
        r"\bse entregan? (?:el|los|antes|cada)\b",
        r"\b(?:fecha (?:límite|de entrega|tope)|plazo|deadline|vencimiento)\b.{0,60}\b(?:es|son|vence|termina"
        r"|hasta|el|acaba|sigue)\b|\b(?:a más tardar|vence el|como tarde)\b|\b(?:debe|tiene que"
        r"|hay que).{0,50}\bantes del\b",
    ),
    decision=(
        r"\bvamos a (?:usar|utilizar|quedarnos con|seguir con)\b",
        r"\b(?:decidimos|hemos decidido|he decidido|acordamos|hemos acordado|elegimos|hemos elegido|optamos"
        r"|quedamos en|se decidió|se acordó|decidí (?:que|usar|no|quedarme))\b|^^(?:vamos|sigamos|quedémonos"
        r"|usemos|vayamos|nos quedamos|elijamos|entonces vamos) con\b|\bnos quedamos con\b|\b(?:la|nuestra"
        r"|mi) decisión (?:es|:|final)",
    ),
    change=(
        r"\b(?:ya no|ahora|en lugar|en vez|se levantó|levantad[oa]|cancelad[oa]|aplazad[oa]|cambiad[oa]"
        r"|cambió|cambia|pasa al|se pasa|movid[oa]|olvida lo|de nuevo|al final|mejor)\b",
    ),
    passing=(
        r"^(?:gracias|genial|hola|oh|vaya|bien)\b|\b(?:ayer|la semana pasada|el año pasado)\b|\bno sé\b"
        r"|^no (?:te preocupes|pasa nada|hay problema)|¿|\b(?:the|you|i|i'm|worries|problem|way|one|changes"
        r"|thanks|doubt|matter|was|is)\b",
    ),
)
RUSSIAN = Forms(
    rule=(
        r"\b(?:никогда|ни в коем случае|ни при каких (?:условиях|обстоятельствах)|без исключений"
        r"|с этого момента|отныне|впредь|с сегодняшнего дня|с завтрашнего дня"
        r"|до дальнейших указаний)\b(?!.{0,6} (?:думал|видел|была?|знал))",
        r"^^(?:пожалуйста,? )?(?:всегда|только|исключительно) \w{1,30}(?:й|йте|и|ите|ь|ьте)\b|\b\w{1,30}(?:й"
        r"|йте|(?<!л)и|ите|ь|ьте) (?:\w{1,30} ){0,2}(?:всегда|только|исключительно)\b|\bвсегда \w{1,30}(?:й"
        r"|йте|и|ите)\b",
        r"^^(?:пожалуйста,? )?(?:больше )?не (?!могу|знаю|хочу|думаю|был|забудь|волнуйся|переживай|беспокойся"
        r"|стоит благ|за что)\w{1,30}(?:й|йте|и|ите|ь|ьте)\b",
        r"\b(?:нельзя|запрещено|запрещается|запрещены|запрещён|воспрещается|не разрешается|не допускается"
        r"|недопустимо)\b|\bне (?:надо|нужно|следует|стоит) (?!благодар|волно|пережив)\w{1,30}"
        r"|\b\w{1,30} не (?:надо|нужно|следует)\b",
        r"\b(?:долж(?:ен|на|но|ны)|обязан[аы]?|обязательн[оаы]|необходимо|следует)\b(?! быть (?:здорово"
        r"|весело|тяжело|трудно))|\b(?:нужно|надо) (?:указывать|писать|использовать|ставить|добавлять|делать"
        r"|проверять|согласовывать|держать|хранить)\b",
        r"\bработаем только\b|\b(?:спроси|спрашивай|спросите|согласуй|проверь|проверяй|предупреди|уточни"
        r"|дождись)\w{0,30}\b.{0,50}\b(?:прежде|перед|сначала|до того)\b|\bпрежде чем\b.{0,60}\b(?:спроси"
        r"|проверь|согласуй|уточни)\w{0,30}|\bбез (?:моего|моей|нашего|согласования|разрешения|согласия"
        r"|предварительн\w{1,30})\b",
        r"\b(?:убедись|убедитесь|убеждайся|следи|следите|позаботься),? (?:за тем,? )?(?:что|чтобы)\b",
        r"\bкажд(?:ый|ая|ое|ую|ого)\b.{1,40}\b(?:долж|нуж|обязан|требует|имеет|пиши|проверяй|нужен"
        r"|нужна)\w{0,30}|\bникаких \w{1,30}",
        r"\b(?:не (?:более|больше|дольше|менее|меньше)|максимум|минимум)\b.{0,30}(?:\d|\b(?:евро|страниц"
        r"|строк|слов|минут|часов|рублей|тысяч)\w{0,30})|\bбюджет\b.{0,40}\b(?:составляет|ограничен|не)\b",
        r"^(?:если|когда|каждый раз,? когда) .{3,80}, (?:то )?(?:\w{1,30}(?:й|и|ь|йте|ите))\b|^(?:правило"
        r"|важно|условие|требование)(?: \d+)?: .|\bважно,? чтобы\b|\bхочу,? чтобы\b|\bне хочу,? (?:чтобы"
        r"|видеть|получать)\b",
        r"^^(?:пожалуйста,? )?(?:избегай|избегайте|придерживайся|отвечай|отвечайте|обращайся|пиши (?:кратко"
        r"|на|без)|используй (?:только|вместо|метри\w{1,30})) ?",
        r"\bпо (?:понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям"
        r"|выходным)\b.{0,40}\b(?:не|нельзя|никаких|нет)\b",
    ),
    preference=(
        r"\b(?:я )?(?:предпочитаю|предпочёл бы|предпочла бы|ненавижу|терпеть не могу)\b|\bмне (?:больше|не"
        r"|лучше) (?:нравится|нравятся|подходит)\b|\bя не люблю\b|\bмне удобнее\b",
        r"\bя (?:\w{1,30} )?(?:не|только) (?:ем|пью|курю|переношу|вожу|работаю|использую|летаю)\b"
        r"|\bмне нельзя\b",
        r"\bаллерги[яию]\b|\bаллергик\b|\b(?:я|моя? \w{1,30}) (?:— |- )?(?:вегетариан|веган|диабетик|левша"
        r"|дальтоник)\w{0,30}|\bнепереносимость\b|\bдиабет\b",
        r"\b(?:запомни|запомните|помни|помните|учти|учтите|имей в виду|имейте в виду|учитывай|не забудь"
        r"|не забывай|не забывайте),? (?:пожалуйста,? )?что\b|^^(?:запомни|учти|имей в виду)\b",
    ),
    name=(r"\b(?:зови|зовите|называй|называйте) меня\b|\bменя зовут\b|\bмоё имя\b|\bобращайся ко мне\b",),
    owner=(
        r"\b(?:отвечает|отвечают|отвечать будет)\b|\bза .{2,30} отвеча\w{1,30}|\bответствен\w{1,30} за\b"
        r"|\b(?:занимается|заведует|руководит|владеет) \w{1,30}",
    ),
    deadline=(
        r"\b(?:срок|сроки|дедлайн|крайний срок)\b|\bне позднее\b|\bсдать (?:нужно|надо|до)\b|\b(?:должен"
        r"|должна|должно|нужно|надо)\b.{0,50}\bдо \d",
    ),
    decision=(
        r"\b(?:решили|решено|договорились|выбрали|остановились на|утвердили|согласовали)\b"
        r"|\bя решил[аи]? (?:использовать|оставить|не|что|взять)\b|^^(?:давай|давайте) (?:остановимся|возьмём"
        r"|оставим|выберем|использовать|перейдём|на плане)|\b(?:берём|остаёмся при|оставляем|выбираем"
        r"|выбираю)\b|\b(?:наше|моё) решение\b",
    ),
    change=(
        r"\b(?:теперь|больше не|вместо|отмен\w{1,30}|снят\w{0,30}|сняли|перенес\w{1,30}|сдвинул\w{0,30}"
        r"|измен\w{1,30}|сейчас|забудь|снова можно|уже не|передумал\w{0,30}|всё-таки)\b",
    ),
    passing=(
        r"^(?:спасибо|привет|ого|круто|здорово|класс)\b|\b(?:вчера|на прошлой неделе|в прошлом году)\b",
    ),
)
POLISH = Forms(
    rule=(
        r"\bnikt nie (?:może|powinien)\b|^^zwracaj(?:cie)? się\b",
        r"\b(?:od teraz|odtąd|od dziś|od dzisiaj|od tej pory|pod żadnym pozorem|w żadnym (?:wypadku|razie)"
        r"|bez wyjątk\w{1,30}|do odwołania|na przyszłość)\b",
        r"^^(?:proszę,? )?(?:nigdy nie|zawsze|tylko|wyłącznie) \w{1,30}(?:j|aj|uj|ij|ź|ń|cie|sz|z|w|rz|b"
        r"|ć)\b|\b\w{1,30} (?:zawsze|wyłącznie) \w{1,30}(?:j|aj|uj|ij)\b|\bnigdy nie \w{1,30}(?:j|aj|uj|ij"
        r"|cie)\b|\b\w{1,30}(?:j|aj|uj|ij|sz)\b (?:\w{1,30} )?(?:zawsze|tylko|wyłącznie)\b",
        r"^^(?:proszę,? )?nie (?!mogę|wiem|martw|chcę|jest|mam|był|zapomnij|przejmuj)\w{1,30}(?:j|jcie|ij|uj"
        r"|cz|sz|dź|ź|ń|rz)\b",
        r"\b(?:nie wolno|zabronion[eya]|zakazan[eya]|zakaz|niedozwolon[eya]|obowiązkow[oeay]|koniecznie"
        r"|bezwzględnie|nie może|nie mogą|nie można)\b|\b(?:musi|muszą|musisz|musicie)\b(?! być (?:fajnie"
        r"|super|trudno|wspaniale))|\b(?:trzeba|należy)\b|\bpowinn?(?:ien|na|no|ny|eneś)\b.{0,40}\b(?:zawsze"
        r"|nie|tylko|być|mieć|każd\w{1,30})\b",
        r"\b(?:zapytaj|pytaj|spytaj|zapytajcie|sprawdź|skonsultuj|uprzedź|poczekaj"
        r"|uzgodnij)\w{0,30}\b.{0,50}\b(?:zanim|przed|najpierw)\b|\bzanim\b.{0,60}\b(?:zapytaj|sprawdź|spytaj"
        r"|uzgodnij)\w{0,30}|\bbez (?:mojej|naszej|mojego|zgody|pytania|wcześniejsz\w{1,30}|konsultacji)\b",
        r"\b(?:upewnij się|upewnijcie się|zadbaj o to|pilnuj),? (?:że|żeby|by|aby)\b",
        r"\bkażd(?:y|a|e|ą|ego|ej)\b.{1,40}\b(?:musi|powin\w{1,30}|wymaga|potrzebuje|ma mieć)\b"
        r"|\bw (?:poniedziałki|wtorki|środy|czwartki|piątki|soboty|niedziele|weekendy)\b.{0,30}\b(?:nie"
        r"|żadnych|bez)\b|^żadnych \w{1,30}",
        r"\b(?:maksymalnie|najwyżej|nie więcej niż|nie dłużej niż|co najmniej)\b.{0,30}(?:\d|\b(?:euro|stron"
        r"|linii|słów|minut|godzin|złotych)\w{0,30})|\bbudżet\b.{0,40}\b(?:wynosi|to|nie|jest)\b",
        r"^(?:jeśli|jeżeli|gdy|kiedy|za każdym razem,? gdy) .{3,80}, \w{1,30}(?:j|aj|uj|ij|ź|ń|cz)\b"
        r"|^(?:zasada|ważne|warunek|wymaganie)(?: \d+)?: .|\b(?:chcę|ważne),? (?:żeby|aby|by)\b"
        r"|\bnie chcę,? (?:żeby|żadnych|widzieć)\b",
        r"^^(?:proszę,? )?(?:unikaj|trzymaj się|odpowiadaj|zwracaj się|ogranicz się|stosuj|pisz (?:po|krótko"
        r"|bez)|używaj (?:tylko|wyłącznie|zamiast|systemu)) ",
    ),
    preference=(
        r"\b(?:wolę|wolałbym|wolałabym|preferuję|nienawidzę|nie lubię|nie znoszę|najbardziej lubię)\b"
        r"|\bodpowiada mi\b",
        r"\b(?:nie|tylko|nigdy nie) (?:jem|jadam|piję|palę|toleruję|pracuję|używam|prowadzę|latam)\b"
        r"|\bnie mogę (?:jeść|pić|brać)\b",
        r"\b(?:mam|ma|mają) (?:\w{1,30} )?(?:alergię|uczulenie|nietolerancję|cukrzycę)\b|\b(?:jestem"
        r"|jest) (?:uczulon\w{1,30}|wegetarian\w{1,30}|wegan\w{1,30}|cukrzyk\w{1,30}|leworęczn\w{1,30}"
        r"|daltonist\w{1,30})\b",
        r"\b(?:pamiętaj|pamiętajcie|zapamiętaj|nie zapomnij|nie zapominaj|miej na uwadze|weź pod uwagę"
        r"|zanotuj),? (?:proszę,? )?że\b",
    ),
    name=(
        r"\b(?:mów (?:mi|do mnie)|nazywaj mnie|wołaj na mnie|mam na imię|nazywam się"
        r"|wszyscy mówią na mnie)\b",
    ),
    owner=(
        r"\b(?:odpowiada|odpowiadają|odpowiedzialn\w{1,30}) (?:teraz )?(?:za|jest)\b"
        r"|\bza .{2,40} odpowiada\w{0,30}\b|\bzajmuje się\b|\bodpowiedzialn\w{1,30}\b",
    ),
    deadline=(
        r"\btermin\b.{0,50}\b(?:to|jest|mija|upływa|do)\b|\b(?:najpóźniej|nie później niż|deadline"
        r"|ostateczny termin)\b|\b(?:musi|trzeba|należy).{0,50}\bdo \d",
    ),
    decision=(
        r"\b(?:zdecydowaliśmy|postanowiliśmy|ustaliliśmy|wybraliśmy|uzgodniliśmy|zdecydowan\w{1,30}"
        r"|postanowion\w{1,30})\b|\b(?:zdecydował[ae]m|postanowił[ae]m)\b|\b(?:zostańmy|zostajemy) przy\b"
        r"|^^(?:weźmy|bierzemy|idziemy w|wybieramy|wybieram|użyjmy|idźmy)\b|\b(?:nasza|moja) decyzja\b",
    ),
    change=(
        r"\b(?:już nie|teraz|zamiast|zniesion\w{1,30}|odwołan\w{1,30}|przesunię\w{1,30}|zmienion\w{1,30}"
        r"|zmieni\w{1,30}|jednak|znowu|zapomnij o|od teraz|nie trzeba już)\b",
    ),
    passing=(r"^(?:dzięki|dziękuję|super|cześć|wow|fajnie)\b|\b(?:wczoraj|w zeszłym)\b",),
)
TURKISH = Forms(
    rule=(
        r"\b(?:türkçe|ingilizce|almanca|kısa|kısaca) (?:cevap|yanıt|yaz)\b",
        r"\b(?:asla|kesinlikle|hiçbir (?:koşulda|şekilde|zaman|durumda)|bundan (?:sonra|böyle)|artık"
        r"|şu andan itibaren|istisnasız|ikinci bir emre kadar)\b.{0,80}(?:m[ae](?:y[ıi]n(?:[ıi]z)?)?|mel[ıi]"
        r"|mal[ıi]|s[ıiuü]n|yoruz|[ae]cağız|eceğiz|yasak|yok)[.!]?$",
        r"\b(?:her zaman|daima|mutlaka|sadece|yalnızca|sürekli)\b.{0,80}\b\w{0,30}(?:yaz|kullan|yap|ver|sor"
        r"|ekle|gönder|çalış|belirt|koy|tut|söyle|göster|yazılsın|olsun|olmal[ıi]|edilsin|yapılsın|edin"
        r"|yazın|kullanın|cevapla|konuş|et)(?:ın|in|un|ün)?[.!]?$",
        r"\b(?!deneme|görüşme|toplama|çalışma|uygulama|açıklama|konuşma|yazışma|tanışma|bölme|dönme|seçme"
        r"|elma|hurma|sinema|tarama|program|lokma|hava|dondurma|sayma)\w{2,30}(?:ma|me|mayın|meyin|mayınız"
        r"|meyiniz)[.!]?$",
        r"(?:mal[ıi]|mel[ıi])(?:dır|dir|y[ıi]z|s[ıi]n)?[.!]?$|(?:ma|me)(?:sın|sin|sınlar|sinler)[.!]?$"
        r"|\b(?:zorunda|zorunlu|şart|gerek(?:iyor|ir|li)|yasak(?:tır)?|mecburi|yasaktır"
        r"|izin yok)\b(?! (?:değil|kaldım))",
        r"\b(?:önce|evvel)\b.{0,40}\b(?:bana|bize) (?:sor|danış|haber ver|söyle)\w{0,30}|\b(?:onayım|iznim"
        r"|iznimiz|onayımız|haberim) olmadan\b|\bsormadan\b",
        r"\bemin ol(?:un)?\b|\bdikkat et(?:in)?\b|\bözen göster\w{0,30}\b",
        r"\bher \w{1,30}(?:n[ıiuü]n|[ıiuü]n)?\b.{0,40}\b(?:olmalı|gerek\w{0,30}|zorunda|lazım)\b"
        r"|\b(?:en fazla|en çok|en az)\b.{0,30}(?:\d|\b(?:avro|euro|lira|sayfa|satır|kelime|dakika|saat)\b)"
        r"|\b(?:pazartesi|salı|çarşamba|perşembe|cuma|cumartesi|pazar) günleri\b.{0,40}\b(?:yok|yasak|olmaz"
        r"|yapma\w{0,30})\b",
        r"^(?:kural|önemli|şart|koşul)(?: \d+)?: .|\b\w{1,30} (?:istiyorum"
        r"|istemiyorum)[.!]?$(?<!gitmek istiyorum.)",
    ),
    preference=(
        r"\btercih (?:ederim|ediyorum|etmem|etmiyorum)\b|\b(?:sevmem|sevmiyorum|nefret ederim|hoşlanmam"
        r"|hoşlanmıyorum)\b|\bdaha çok severim\b|\bbana daha uygun\b",
        r"\b(?:yemem|yemiyorum|yiyemem|yiyemiyorum|içmem|içmiyorum|içemem|kullanmam|kullanmıyorum|çalışmam"
        r"|çalışmıyorum)\b|\balerji\w{0,30}\b|\b(?:vejetaryen|vegan|diyabet|çölyak|solak)\w{0,30}\b",
        r"\bunutma(?:yın)?[.!]?$|\baklında (?:olsun|bulunsun|tut)\b|\bhatırla(?:yın)?[.!]?$",
    ),
    name=(
        r"\bbana \w{1,30} (?:de|diye (?:seslen|hitap et)|deyin|diyebilirsin)\b|\b(?:benim )?adım \w{1,30}"
        r"|\bherkes bana \w{1,30} der\b",
    ),
    owner=(
        r"\b(?:sorumlu(?:su|dur)?|ilgileniyor|ilgilenir|yetkili(?:si)?|bakıyor|yönetiyor|üstlen\w{1,30})\b",
    ),
    deadline=(
        r"\b(?:son (?:teslim )?(?:tarih|tarihi|gün|günü)|teslim tarihi|son başvuru|termin)\b|\ben geç\b"
        r"|\bkadar\b.{0,40}\b(?:bitmeli|teslim|hazır|olmalı|gönderilmeli)\b",
    ),
    decision=(
        r"\bkarar (?:verdik|verdim|aldık|kıldık|verildi)\b|\banlaştık\b|\b(?:seçtik|benimsedik|onayladık)\b"
        r"|\b(?:devam edelim|kullanalım|seçelim|gidelim ile|ilerleyelim|kalalım|yapalım)[.!]?$|\bkararımız\b",
    ),
    change=(
        r"\b(?:artık|yerine|şimdi|bundan sonra|kaldırıldı|iptal|ertelendi|değişti|değiştirildi|alındı|taşındı"
        r"|vazgeç\w{1,30}|yeniden|gerek kalmadı)\b",
    ),
    passing=(r"\?$|\b(?:dün|geçen (?:hafta|yıl|ay))\b|^(?:teşekkür|sağ ol|merhaba|selam)",),
)
VIETNAMESE = Forms(
    rule=(
        r"(?:^|[,;:.] |\b(?:xin|vui lòng|và|nhưng) )(?:đừng|không được|không nên|cấm|nghiêm cấm"
        r"|tuyệt đối không|không bao giờ|chỉ được|luôn|luôn luôn|phải|bắt buộc)\b",
        r"\b(?:đừng bao giờ|không bao giờ được|tuyệt đối không|nghiêm cấm|không được phép|không được|bắt buộc"
        r"|nhất định phải|dù thế nào|trong mọi trường hợp|không có ngoại lệ)\b",
        r"\b(?:từ (?:bây giờ|nay|giờ|hôm nay)(?: trở đi| về sau)?|kể từ|cho đến khi có thông báo)\b",
        r"(?:^|, )(?:hãy |xin |vui lòng )?(?:không|chỉ) (?:dùng|sử dụng|viết|gửi|xóa|sửa|đổi|nhắc|làm|trả lời"
        r"|thêm|họp|mở|chạy|chia sẻ|triển khai)\b",
        r"\b(?:mỗi|mọi|tất cả)\b.{1,50}\b(?:phải|cần|đều|bắt buộc|nên)\b|\b(?:phải|cần) (?:ghi|có|được|dùng"
        r"|viết|nộp|giữ|hỏi|kiểm|tuân|kèm|nêu|xong|hoàn)\b|\bkhông (?:được )?(?:vượt quá|quá)\b|\b(?:tối đa"
        r"|tối thiểu|nhiều nhất|ít nhất)\b.{0,30}(?:\d|trang|dòng|từ|phút|giờ|người)",
        r"\b(?:hãy )?(?:hỏi|xin phép|báo|thông báo cho|kiểm tra|chờ)\b.{0,40}\btrước khi\b"
        r"|\btrước khi\b.{0,60}\b(?:hãy|phải|hỏi|kiểm tra|báo)\b|\b(?:khi (?:tôi|mình) chưa đồng ý"
        r"|mà không (?:hỏi|có|được|báo))\b",
        r"\b(?:hãy )?(?:đảm bảo|chắc chắn rằng|bảo đảm)\b|\b(?:tránh|hạn chế) (?:dùng|sử dụng|viết|việc)\b"
        r"|^(?:hãy |xin )?(?:luôn|tránh|trả lời|giữ|tuân thủ)\b|^(?:quy tắc|quan trọng|lưu ý)(?: \d+)?: ."
        r"|\b(?:nếu|khi|mỗi khi|mỗi lần)\b.{3,60}, (?:hãy|phải|thì phải|luôn|đừng)\b",
    ),
    preference=(
        r"\b(?:tôi|mình|em|anh|con|chúng tôi)\b.{0,20}\b(?:thích .{1,60} hơn|không thích|ghét|ưu tiên"
        r"|chuộng)\b|\bthích .{2,50}hơn\b",
        r"\b(?:tôi|mình|em|anh|con|vợ tôi|chồng tôi)\b.{0,20}\b(?:không ăn|không uống|ăn chay|không thể ăn"
        r"|không thể uống|bị dị ứng|dị ứng|bị tiểu đường|chỉ ăn|chỉ uống)\b|\bdị ứng (?:với)?\b",
        r"(?:^|, )(?:hãy |xin |vui lòng )?(?:nhớ|ghi nhớ|lưu ý|đừng quên|chú ý)(?: là| rằng)\b",
    ),
    name=(r"\b(?:gọi (?:tôi|mình|em|anh|chị) là|tên (?:tôi|mình|em) là|tôi tên)\b",),
    owner=(r"\b(?:phụ trách|chịu trách nhiệm|quản lý việc|là người phụ trách)\b",),
    deadline=(
        r"\b(?:hạn chót|hạn nộp|hạn cuối|thời hạn|ngày hết hạn|chậm nhất|muộn nhất)\b"
        r"|\bphải .{2,40}\btrước ngày\b",
    ),
    decision=(
        r"\b(?:quyết định|thống nhất|đã chọn|đồng ý chọn|chốt)\b(?! được không)|\b(?:chúng ta|mình"
        r"|ta) (?:chọn|dùng|theo|đi với|sẽ dùng|giữ)\b",
    ),
    change=(
        r"\b(?:không .{1,40}nữa|bây giờ|thay vì|thay cho|đã bỏ|bãi bỏ|hủy|dời|đổi (?:sang|thành)|chuyển sang"
        r"|từ nay|quên .{2,20} đi|lại được)\b",
    ),
    passing=(r"\?$|\b(?:hôm qua|tuần trước|năm ngoái)\b|^(?:cảm ơn|chào|tuyệt quá)",),
)
GREEK = Forms(
    rule=(
        r"\b(?:από (?:εδώ και πέρα|εδώ και στο εξής|τώρα και στο εξής|σήμερα|δω και πέρα)|στο εξής"
        r"|σε καμία περίπτωση|με κανέναν τρόπο|χωρίς εξαίρεση|μέχρι νεωτέρας)",
        r"^^(?:παρακαλώ,? )?(?:μη|μην) (?!ανησυχ|φοβ|στεναχ|ξεχ)\w{1,30}|\bποτέ (?:μην?|δεν|να)\b|\b(?:μην?"
        r"|δεν) .{1,40}\bποτέ\b(?! (?:ξανά )?(?:σκέφτ|είδα|πήγα))",
        r"^^(?:παρακαλώ,? )?(?:να )?\w{1,30}(?:εις|άς|είς|ε|α|ετε|άτε) (?:πάντα|μόνο|αποκλειστικά)\b"
        r"|^^(?:πάντα|μόνο) (?:να )?\w{1,30}",
        r"\b(?:δεν )?πρέπει να\b(?! (?:φύγω|πάω|είναι (?:ωραί|δύσκολ)))|\b(?:απαγορεύεται|απαγορεύονται"
        r"|δεν επιτρέπ\w{1,30}|υποχρεωτικ\w{1,30}|οφείλ\w{1,30}|είναι (?:απαραίτητο|υποχρεωτικό|απαραίτητη))",
        r"\b(?:ρώτα|ρώτησέ|ρώτησε|ρωτήστε|ενημέρωσε|ενημέρωσέ|έλεγξε|περίμενε)\b.{0,40}\b(?:πριν|πρώτα)\b"
        r"|\bχωρίς (?:την|τη|να με|να|άδεια|έγκριση|τη δική)\b.{0,30}(?:έγκριση|άδεια|συγκατάθεση|ρωτήσεις"
        r"|ενημερώσεις)\w{0,30}",
        r"\b(?:βεβαιώσου|φρόντισε|σιγουρέψου|βεβαιωθείτε) (?:πάντα )?(?:ότι|πως|να)\b"
        r"|\bκάθε \w{1,30}.{0,30}\b(?:πρέπει|χρειάζεται|θέλει|οφείλει)\b|\b(?:το πολύ|τουλάχιστον"
        r"|όχι πάνω από)\b.{0,30}(?:\d|ευρώ|σελίδες|γραμμές|λέξεις|λεπτά|ώρες)",
        r"^(?:όταν|αν|κάθε φορά που) .{3,80}, (?:να )?\w{1,30}|^(?:κανόνας|σημαντικό|όρος)(?: \d+)?: ."
        r"|\bθέλω (?:πάντα )?να (?:μου |με |μην )?\w{1,30}εις\b|^^(?:απόφυγε|να αποφεύγεις"
        r"|χρησιμοποίησε μόνο|χρησιμοποίει|απάντα|να απαντάς|να γράφεις|να χρησιμοποιείς) "
        r"|\bόχι \w{1,30} (?:την|τις|το|τα) (?:δευτέρα|τρίτη|τετάρτη|πέμπτη|παρασκευή|σάββατο|κυριακή)"
        r"|\bνα \w{1,30}(?:ονται|εται|άται|ούνται)\b.{0,30}\b(?:πάντα|μόνο|υποχρεωτικά|με)\b",
    ),
    preference=(
        r"\b(?:προτιμώ|θα προτιμούσα|μισώ|απεχθάνομαι|δεν μου αρέσ\w{1,30}|μου αρέσουν? περισσότερο)\b"
        r"|\b(?:δεν|μόνο) (?:τρώω|πίνω|καπνίζω|αντέχω|δουλεύω|οδηγώ)\b|\bδεν μπορώ να (?:φάω|πιω|τρώω"
        r"|πίνω)\b|\bαλλεργ\w{1,30}|\b(?:είμαι|είναι) (?:χορτοφάγος|βίγκαν|διαβητικ\w{1,30})|\bδυσανεξία\b",
        r"\b(?:θυμήσου|θυμηθείτε|να θυμάσαι|μην ξεχνάς|μην ξεχάσεις|έχε υπόψη|λάβε υπόψη|σημείωσε),? (?:ότι"
        r"|πως)\b",
    ),
    name=(
        r"\b(?:να με (?:λες|φωνάζεις|αποκαλείς)|φώναζέ με|λέγε με|με λένε|το όνομά μου|όλοι με (?:λένε"
        r"|φωνάζουν))\b",
    ),
    owner=(r"\b(?:υπεύθυν\w{1,30}|αρμόδι\w{1,30}|αναλαμβάνει|έχει αναλάβει)\b",),
    deadline=(
        r"\b(?:προθεσμία|καταληκτική ημερομηνία|το αργότερο)\b|\bπρέπει να .{2,50}\bμέχρι (?:τις|την|τη|το"
        r"|\d)",
    ),
    decision=(
        r"\b(?:αποφασίσαμε|αποφάσισα|συμφωνήσαμε|επιλέξαμε|καταλήξαμε|αποφασίστηκε)\b|^^ας (?:πάμε|κρατήσουμε"
        r"|μείνουμε|χρησιμοποιήσουμε|διαλέξουμε|πάρουμε)\b|\bη απόφαση\b",
    ),
    change=(
        r"\b(?:πια|πλέον|τώρα|αντί|ακυρώ\w{1,30}|άρθηκε|αίρεται|μετατέθηκε|μεταφέρθηκε|άλλαξε|ξανά|τελικά"
        r"|ξέχνα)\b",
    ),
    passing=(r"[;?]$|\b(?:χθες|χτες|πέρυσι)\b|^(?:ευχαριστώ|γεια|τέλεια)",),
)
HEBREW = Forms(
    rule=(
        r"(?:^|[\s,;:])(?:לעולם|בשום (?:אופן|פנים|מקרה|תנאי)|מעכשיו|מהיום|מעתה|להבא|ללא יוצא מן הכלל"
        r"|עד להודעה חדשה|בכל מקרה)(?=[\s,])",
        r"(?:^|[,;:] |בבקשה )(?:אל|לעולם אל|רק|תמיד) (?!תדאג|תפחד|תשכח)ת?[א-ת]{1,30}|(?:^|\s)אל ת(?!דאג"
        r"|פחד)[א-ת]{1,30}|^ת[א-ת]{1,30} (?:תמיד|רק|אך ורק)|(?:^|\s)(?:תמיד|רק) ת[א-ת]{1,30}"
        r"|^ת[א-ת]{1,30} (?:לי |את |את ה[א-ת]{1,30} )?(?:תמיד|רק)",
        r"(?:^|\s)(?:אסור|חובה|חייב(?:ת|ים|ות)?|מוכרח(?:ים|ה)?|אין ל[א-ת]{1,30}|נא לא|יש ל[א-ת]{3,}"
        r"|לא ל[א-ת]{3,}|צריך ל(?:ציין|כתוב|היות|השתמש|הוסיף|בדוק|שמור)|צריכ(?:ה|ים|ות) להיות)(?=[\s.,!]|$)",
        r"(?:תשאל|שאל|תבדוק|תתייעץ|תודיע|חכה|תחכה|תאשר)[א-ת]{0,30} .{0,40}(?:לפני|קודם)|בלי (?:ה?אישור"
        r"|ה?רשות|לשאול|הסכמ)|ללא (?:אישור|רשות)",
        r"(?:תוודא|ודא|תדאג|תקפיד|הקפד)(?: תמיד)? ש|(?:^|\s)ל?כל [א-ת]{1,30} .{0,30}(?:חייב|צריך|נדרש)"
        r"|(?:לכל היותר|לפחות|לא יותר מ|מקסימום).{0,30}(?:\d|עמודים|שורות|מילים|דקות|שעות|אירו|שקל)",
        r"(?:^|, )אין [א-ת]{1,30} (?:ב|לפני|אחרי|בלי|ללא)|^(?:כלל|חשוב|תנאי|דרישה)(?: \d+)?: .|חשוב ש"
        r"|אני רוצה ש(?:ת|לא|תמיד)|(?:כש|אם |בכל פעם ש).{3,60}, ת[א-ת]{1,30}|^(?:הימנע|תימנע|תענה|ענה"
        r"|השתמש רק|תשתמש רק)",
    ),
    preference=(
        r"אני (?:מעדיפ?ה?|מעדיף|שונא(?:ת)?|לא (?:אוכל(?:ת)?|שותה|אוהב(?:ת)?|מעשנ?(?:ת)?|יכול(?:ה)? (?:לאכול"
        r"|לשתות)|עובד(?:ת)?|רוצה)|רק (?:אוכל|שותה|עובד))|אלרגי|(?:טבעוני|צמחוני|סוכרת|צליאק|רגישות ל)"
        r"|הייתי מעדיפ?",
        r"(?:תזכור|זכור|תזכרי|אל תשכח|קח בחשבון|שים לב|שימי לב)(?:,)? ש",
    ),
    name=(r"(?:תקרא|קרא|תקראי|קראו|קוראים) לי|השם שלי|שמי ",),
    owner=(r"אחרא(?:י|ית|ים)(?= על| ל|\.)|מטפל(?:ת)? ב|ממונה על|בעל(?:ת)? האחריות",),
    deadline=(
        r"(?:ה?מועד ה?אחרון|דד ?ליין|תאריך (?:היעד|ההגשה)|לכל המאוחר|לא יאוחר)|חייב .{2,40} עד (?:ה|יום|\d)",
    ),
    decision=(
        r"(?:^|\s)(?:החלטנו|סיכמנו|בחרנו|הסכמנו|החלטתי|הוחלט|קבענו)(?=[\s.,])|(?:בוא|בואו) (?:נלך|נשתמש|נישאר"
        r"|ניקח|נבחר)|ההחלטה",
    ),
    change=(r"(?:^|\s)(?:כבר לא|יותר לא|עכשיו|במקום|בוטל|הוסר|נדח|הועבר|השתנ|שוב|מעכשיו|תשכח מ|בסוף)",),
    passing=(r"\?$|אתמול|בשבוע שעבר|^(?:תודה|שלום|היי)",),
)
ARABIC = Forms(
    rule=(
        r"(?:^|[\s،:])(?:من الآن فصاعد[اًا]{0,30}|من اليوم فصاعد|ابتداء[اً]{0,30} من|تحت أي ظرف|بأي حال"
        r"|في كل الأحوال|بدون استثناء|دون استثناء|حتى إشعار آخر|مستقبل[اً]{0,30}|منعا باتا)",
        r"(?:^|[،:؛] |رجاء[اً]{0,30} |من فضلك |أبد[اً]{0,30} )(?:لا|ولا) (?:ت(?!قلق|نس|خف|زال"
        r"|وجد مشكل))[\u0621-\u064a]{1,30}"
        r"|(?:لا|ولا) ت[\u0621-\u064a]{1,30} .{0,40}(?:أبد|إلا|دون|بدون|قبل|مطلق)",
        r"(?:^|\s)(?:و|ف)?(?:يجب|يتعين|لا بد|ينبغي|يلزم|ممنوع|محظور|يمنع|يحظر|لا يجوز|لا يسمح|إلزامي|يُمنع"
        r"|يُحظر|لا يمكن أن يتجاوز|غير مسموح|ضروري أن|من الضروري)",
        r"(?:^|[،:] )(?:ا|أ|إ)?[\u0621-\u064a]{1,30} .{0,40}(?:دائم[اًا]{0,30}|فقط)(?=[\s.،]|$).{0,40}$"
        r"|(?:دائم[اًا]{0,30}) (?:ا|أ)[\u0621-\u064a]{1,30}|(?:^|[\s])فقط(?=[.\s]).{0,3}$",
        r"(?:اسألني|اسأل|استشر|استشرني|أخبرني|تأكد|انتظر|راجع).{0,40}(?:قبل|أولا)|(?:دون|بدون"
        r"|من غير) (?:موافقت|إذن|علم|الرجوع|أن تسأل|استئذان)",
        r"(?:احرص|تأكد|تحقق|اعمل) (?:دائما )?(?:على|من) أن|(?:لكل|كل) [\u0621-\u064a]{1,30} .{0,30}(?:يجب"
        r"|يحتاج|ينبغي|لا بد)|(?:بحد أقصى|على الأكثر|على الأقل|لا يزيد|لا تزيد|ألا يتجاوز|ألا تتجاوز)|^(?:لا"
        r"|بدون) [\u0621-\u064a]{1,30}ات? (?:يوم|أيام|في|قبل|بعد|خلال)|^(?:قاعدة|مهم|شرط)(?: \d+)?: ."
        r"|أريدك? أن (?:لا |تكون |ت)[\u0621-\u064a]{1,30} .{0,30}(?:دائم|فقط|أبد)|(?:عندما|كلما"
        r"|إذا) ت?[\u0621-\u064a]{1,30}.{3,60}[،,] (?:ا|أ|لا|ف)[\u0621-\u064a]{1,30}|^(?:تجنب|التزم|أجب|اكتفِ"
        r"|استخدم (?:فقط|دائما))",
    ),
    preference=(
        r"(?:^|\s)(?:أنا )?(?:أفضل|أفضّل|أكره|لا أحب|لا آكل|لا أشرب|لا أتحمل|لا أستطيع (?:أكل|شرب|تناول)"
        r"|لا أدخن|لا أعمل|لا أريد)(?=[\s.])|حساسية|(?:أنا|هو|هي|ابني|ابنتي|زوجتي|زوجي) (?:نباتي|نباتية|مصاب"
        r"|مصابة|مريض)|السكري",
        r"(?:^|[،] )(?:تذكر|تذكري|لا تنس|لا تنسَ|ضع في (?:اعتبارك|الحسبان)|خذ في|انتبه إلى|اعلم)(?: إلى)? أن",
    ),
    name=(r"(?:نادني|ناديني|سمني|خاطبني|اسمي) ",),
    owner=(r"(?:المسؤول(?:ة|ون)?|مسؤول(?:ة)?) عن|(?:يتولى|تتولى) |صاحب(?:ة)? القرار",),
    deadline=(
        r"(?:الموعد النهائي|آخر موعد|الموعد الأخير|تاريخ التسليم|موعد التسليم|في موعد أقصاه|كحد أقصى)",
    ),
    decision=(
        r"(?:^|\s)و?(?:قررنا|قررت|اتفقنا|اخترنا|استقر رأينا|تم الاتفاق|تقرر|حسمنا)(?=\s)|(?:^|[،] )(?:لنعتمد"
        r"|لنستخدم|لنأخذ|لنختر|لنبق|فلنعتمد|فلنستخدم|سنعتمد|سنستخدم)|قرارنا",
    ),
    change=(
        r"(?:لم يعد|لم تعد|الآن|بدل[اً]{0,30} من|بدلا|بعد الآن|ألغي|تم إلغاء|رفع|تأجل|تغير|نقل|انس ما|من جديد"
        r"|مجدد)",
    ),
    passing=(r"[؟?]$|أمس|الأسبوع الماضي|^(?:شكرا|مرحبا|رائع)",),
)
PERSIAN = Forms(
    rule=(
        r"(?:^|[\s،:])(?:هرگز|هیچ‌وقت|هیچ وقت|تحت هیچ شرایطی|به هیچ وجه|از این به بعد|از حالا به بعد|از امروز"
        r"|از این پس|بدون استثنا|تا اطلاع ثانوی|در هر صورت)(?=[\s،])",
        r"(?:^|\s)(?:باید|نباید|بایستی|ممنوع|ممنوعه|الزامی|اجباری|مجاز نیست|غیرمجاز|لازم است|ضروری است"
        r"|حق نداری)(?=[\s.،]|$)",
        r"(?:^|\s)(?:همیشه|فقط|تنها|حتما|حتماً)(?=\s).{0,80}(?:بنویس|کن|بده|باش|بپرس|بزن|استفاده کن|جواب بده"
        r"|پاسخ بده|شود|باشد|کنید|بنویسید|بگو|بگذار|می‌کنیم|بیاور|بفرست)(?:ید)?[.!]?$",
        r"(?:^|\s)ن(?!ه |یست|ظر|ام|فر[.!]?$|زدیک|گاه)[\u0621-\u06cc\u200c]{0,30}(?:کن|کنید|ده|دهید|زن|فرست"
        r"|گذار|ذار|نویس|گو|گویید|بر|بند|ساز|گیر|خوان|کش|شو|باش|باشید|فرستید|گذارید|نویسید)[.!]?$",
        r"(?:از من|با من|از ما) .{0,15}(?:بپرس|مشورت|هماهنگ|اجازه)|قبل از .{2,50}(?:بپرس|هماهنگ|بررسی|خبر بده"
        r"|اجازه)|بدون (?:اجازه|تأیید|تایید|هماهنگی|پرسیدن)",
        r"مطمئن (?:شو|شوید)|دقت کن|مراقب باش|هر [\u0621-\u06cc\u200c]{1,30} .{0,40}(?:باید|لازم)|(?:حداکثر"
        r"|حداقل|نهایت[اً]{0,30}|بیشتر از).{0,30}(?:\d|صفحه|خط|کلمه|دقیقه|ساعت|یورو|تومان)|^(?:قانون|مهم"
        r"|شرط)(?: \d+)?: .|می‌خواهم (?:که )?(?:همیشه|فقط|هیچ)|نمی‌خواهم|(?:وقتی|هر وقت|هر بار که"
        r"|اگر) .{3,60}[،,] .{2,60}(?:کن|بده|بنویس|بپرس|بگو|بگذار)[.!]?$|^(?:بدون|هیچ)"
        r" [\u0621-\u06cc\u200c]{1,30} (?:در|روز|قبل|بعد)",
    ),
    preference=(
        r"ترجیح می‌?\s?ده[می]|متنفرم|دوست ندارم|(?:نمی‌خورم|نمی خورم|نمی‌نوشم|نمی‌توانم بخورم|نمی‌کشم"
        r"|نمی‌توانم بنوشم)|حساسیت دار|آلرژی|گیاه‌?خوار|دیابت|وگان",
        r"(?:یادت باشد|یادت باشه|به خاطر داشته باش|به یاد داشته باش|فراموش نکن|در نظر داشته باش"
        r"|توجه داشته باش)",
    ),
    name=(r"(?:مرا|من را|منو|به من) .{1,25}(?:صدا کن|صدا بزن|بگو|خطاب کن)|اسم من|نام من",),
    owner=(r"مسئول|مسوول|بر عهده|به عهده",),
    deadline=(r"مهلت|آخرین موعد|ضرب‌?الاجل|موعد تحویل|حداکثر تا|دیرترین",),
    decision=(
        r"(?:تصمیم گرفت(?:یم|م)|توافق کردیم|انتخاب کردیم|قرار شد|تصویب شد|تصمیم ما)|(?:پیش برویم|استفاده کنیم"
        r"|انتخاب کنیم|بمانیم|برویم سراغ)[.!]?$",
    ),
    change=(
        r"دیگر|الان|اکنون|به جای|به‌جای|لغو شد|برداشته شد|عوض شد|تغییر کرد|منتقل شد|به تعویق|از این به بعد"
        r"|دوباره",
    ),
    passing=(r"[؟?]$|دیروز|هفته پیش|پارسال|^(?:ممنون|سلام|مرسی)",),
)
HINDI = Forms(
    rule=(
        r"कभी (?:भी )?(?:[^\s।]{1,30} ){0,5}(?:मत|न|नहीं)|(?:^|\s)मत (?:[^\s।]{1,30})|(?:^"
        r"|\s)[^\s]{1,30} मत[।.!]?$|किसी भी (?:हाल|हालत|सूरत|परिस्थिति)|बिना (?:मेरी|मेरे|हमारी|पूछे|अनुमति"
        r"|इजाज़त)|(?:अब से|आज से|आगे से|आइंदा|भविष्य में)(?=\s)",
        r"(?:^|\s)(?:हमेशा|सिर्फ|सिर्फ़|केवल|सदा)\s.{0,80}(?:ो|ना|िए|िये|ें|ेंगे|चाहिए|े हैं|ूँगा)[।.!]?$",
        r"(?:ना|नी|ने) (?:चाहिए|होगा|होगी|पड़ेगा|ही है|मना है|ज़रूरी है|जरूरी है|अनिवार्य है|वर्जित है)|(?:मना"
        r"|वर्जित|प्रतिबंधित|अनिवार्य|ज़रूरी|जरूरी|आवश्यक|निषिद्ध) (?:है|हैं)|नहीं (?:होना|होनी|होने|जाना|जानी"
        r"|करना|करनी|आना|लेना|देना|बताना|लिखना)",
        r"पहले (?:मुझसे|मुझ से|हमसे|मुझे)? ?(?:पूछ|बता|जाँच|अनुमति)|से पहले .{0,40}(?:पूछ|जाँच|बता|अनुमति)"
        r"|(?:सुनिश्चित कर|ध्यान रख|पक्का कर)|(?:^|\s)(?:हर|प्रत्येक|सभी) .{1,50}(?:चाहिए|ज़रूरी|जरूरी"
        r"|अनिवार्य|होगा|होगी)",
        r"(?:अधिकतम|ज़्यादा से ज़्यादा|कम से कम|से ज़्यादा नहीं|से अधिक नहीं)|(?:^|\s)कोई .{2,40} नहीं (?:होगा"
        r"|होगी|होंगे|चाहिए|करेगा)|के साथ ही (?:बता|लिख|दे)|^(?:नियम|शर्त|महत्वपूर्ण)(?: \d+)?: .|(?:जब भी|अगर"
        r"|जब) .{3,60}, .{2,40}(?:ो|ना|िए)[।.!]?$|(?:से बचो|से बचना|का ही (?:उपयोग|इस्तेमाल))|(?:चाहता"
        r"|चाहती) हूँ कि",
    ),
    preference=(
        r"(?:पसंद (?:है|हैं|करता|करती|नहीं)|नापसंद|नफ़रत|ज़्यादा अच्छा लगता)|मैं .{1,40}नहीं (?:खाता|खाती|पीता"
        r"|पीती|खा सकता|खा सकती|पी सकता|करता|करती)|एलर्जी|शाकाहारी|मधुमेह|डायबिटीज",
        r"(?:याद रख|ध्यान रहे|भूलना मत|मत भूलना|ध्यान में रख)",
    ),
    name=(r"मुझे .{1,25}(?:कहकर|कह कर|नाम से|बुला|कहो|कहिए)|मेरा नाम",),
    owner=(r"(?:ज़िम्मेदारी|जिम्मेदारी|ज़िम्मेदार|जिम्मेदार|प्रभारी|संभालता|संभालती|सँभालती|देखती है|देखता है)",),
    deadline=(r"(?:अंतिम (?:तिथि|तारीख)|आखिरी (?:तारीख|तारीख़)|समय ?सीमा|डेडलाइन)",),
    decision=(
        r"(?:फैसला|फ़ैसला|निर्णय) (?:किया|लिया|हुआ|है)|तय (?:किया|हुआ|कर लिया)|(?:^|\s)चलो .{1,50}(?:चलते|रखते"
        r"|लेते|करते|चुनते) हैं|(?:सहमति|सहमत) (?:हुई|हुए)|हमने .{1,40}चुना",
    ),
    change=(r"अब (?:नहीं|से)?|की जगह|के बजाय|बदल|हटा दिया|रद्द|टल गई|आगे बढ़|वापस ले|फिर से",),
    passing=(r"\?$|(?:^|\s)कल .{0,60}(?:था|थे|थी|गए|आया)|^(?:धन्यवाद|शुक्रिया|नमस्ते)",),
)
CHINESE = Forms(
    rule=(
        r"绝(?:对)?不|绝对(?:要|禁止)|千万(?:不|别)|(?:^|[，,；;：:]|请|你|您|都|也|就)(?:不要|别|勿|不准"
        r"|不许|不得|不可以|不能|严禁|禁止|切勿|切记|不允许)(?!担心|客气|着急|紧张|忘记了|介意)|(?:不得|不准"
        r"|不许|严禁|禁止|请勿|切勿|不允许|不可)(?:[\u4e00-\u9fff])|(?:從|从)(?:现在|今|今天|此|现)(?:起"
        r"|开始|以后|往后)|今后|以后(?:都|请|要|不|就|别|一律|只)|无论如何|任何情况下|一律|务必|必须|必需"
        r"|一定要|只能|只准|只可|仅限|不得超过|不能超过|不超过|最多|至多|上限(?:是|为)|应该?(?:始终|总是|都)"
        r"|永远(?:不要|别|用)|始终|总是要|每次都?(?:要|必须|请)|除非|没有例外",
        r"不要(?:再|用|发|写|改|碰|动|删|提|说|给|把|在|使用|修改|删除|透露|安装|合并|推送|发送)|(?:必須"
        r"|絕對不|務必|不許|禁止|嚴禁|請勿|一律|從現在起|以後都)",
        r"(?:之前|以前|前)[，,]?(?:都|一定|必须|请)?(?:要)?(?:先)?(?:问|询问|征求|告诉|通知|确认|跟我|和我"
        r"|经过)|先(?:问|征求|告诉|跟|和|得到|经过).{0,12}(?:再|之后|同意)|(?:没有|未经|不经).{0,8}(?:同意"
        r"|许可|批准|允许)|(?:确保|保证|请确认|注意要)|(?:每个|每一个|每份|所有|全部).{1,15}(?:都)?(?:要"
        r"|必须|应|需|得)(?!求)|(?:星期|周|礼拜)[一二三四五六日天].{0,6}(?:不|别|禁止|停)|只(?:用|在|使用|许"
        r"|允许|准|回答|接受|看)|^(?:规则|重要|注意|要求|条件)\d*[：:]|(?:当|如果|每当"
        r"|只要).{2,30}[，,](?:就|请|要|必须|都|则)|(?:用|使用).{1,12}(?:而不是|不要用|，不用)|(?:回答|回复"
        r"|请)(?:都)?(?:用|使用)(?:中文|英文|简体|繁体|简短|公制)|避免",
    ),
    preference=(
        r"我(?:们)?(?:还是|比较|更|宁愿|宁可|一般|通常|最)?(?:更喜欢|偏好|偏爱|宁愿|宁可|倾向"
        r"|喜欢.{1,12}(?:胜过|多于|而不))|更喜欢|比较喜欢|不喜欢|讨厌|我(?:从来)?(?:不吃|不喝|不能吃|不能喝"
        r"|不抽|不用|只吃|只喝|只用|吃素|不开车|不坐)|过敏|素食|糖尿病|乳糖不耐|忌口|最(?:喜欢|爱)的.{1,8}是",
        r"(?:^|[，,。]|请|要)(?:记住|记得|别忘了|不要忘记|请注意|牢记|记着)",
    ),
    name=(r"叫我|称呼我|我叫(?!他|她|你|外)|我的名字|我姓",),
    owner=(
        r"由.{1,12}(?:负责|主管|管理|处理|来做|审批)|(?:负责人|联系人|主管|责任人)是|.{1,8}负责(?!任)"
        r"|归.{1,8}(?:管|负责)|說了算|说了算",
    ),
    deadline=(
        r"截止|期限|最后期限|最晚|最迟|到期|之前(?:必须|要|得)?(?:完成|交|提交|上线|发布)|交付日|deadline",
    ),
    decision=(
        r"(?:我们|大家)(?:已经)?选了|(?:我们|大家)选择(?:了)?",
        r"(?:我们|我|团队|大家)?(?:已经|最终|最后|一致)?(?:决定|決定)(?!权|性)|(?:定下|敲定|说好|商定|约定"
        r"|同意|选定|选了|确定)(?:了|用|采用|是)|(?:那)?就(?:用|选|定|按|采用|这么).{1,15}(?:吧|了)|咱们用"
        r"|采用.{1,12}(?:方案|设计|计划)|(?:^|，)(?:用|选)(?:方案|计划|第).{1,8}(?:吧)?",
    ),
    change=(
        r"不再|改(?:为|成|到|用|叫)|换成|现在|如今|取消|解除|作废|推迟|延期|提前|代替|而不是|以后"
        r"|可以.{0,10}了|不用再|收回|忘掉|其实|還是|还是",
    ),
    passing=(r"[吗呢么]?[？?]$|昨天|上周|去年|^(?:谢谢|你好|好的)",),
)
JAPANESE = Forms(
    rule=(
        r"(?:ないで(?:ください|下さい|くれ|ほしい|ね|。|$)|てはいけ|てはなら|ちゃだめ|ちゃいけ|てはだめ"
        r"|べからず|べきではない|べきでは|禁止|厳禁|禁物|いけません|なりません|ないこと"
        r"|ぬこと|しないように|ないよう(?:に|お願い))",
        r"(?:なければ(?:なら|いけ)|なきゃ|なくては|ねばなら|必須|必ず|常に|絶対に?|いつも.{1,30}(?:ください"
        r"|て|こと)|毎回|例外なく|一切|決して|義務|必要(?:です|がある|があります|だ)|のみ(?:と|で|に|使|可)"
        r"|だけ(?:で|に|を|使|と)(?!なく).{0,12}(?:ます|してください|すること|して|する)|に限(?:る|り)|以内"
        r"|以下に|まで(?:とする|にする|です)|超え(?:ない|て)|上限)",
        r"(?:今後|これから|今から|以後|今日から|次回から)(?:は|も|、)|(?:こと|すること|書くこと|使うこと"
        r"|事)(?:。|$|です|とする|にする)|(?:前に|まえに)(?:は)?(?:、)?(?:必ず|まず)?.{0,12}(?:聞い|確認"
        r"|相談|尋ね|連絡|知らせ|許可)|(?:許可|承認|確認|了承|断り)(?:なし|なく|を得|無し)"
        r"|ようにして(?:ください|下さい|ね|。|$)|(?:すべて|全て|全部|各|どの|毎).{1,20}(?:必要|必須|こと"
        r"|べき|なければ|ください)|(?:曜日|週末)(?:は|に).{0,12}(?:ない|禁止|しない|なし|休)|(?:する"
        r"|の)(?:場合|とき|時|たび)(?:は|に).{1,30}(?:ください|て|こと)(?:。|$)|^(?:ルール|重要|注意"
        r"|条件)\d*[：:]|(?:ではなく|じゃなくて).{1,20}(?:使|書|で|に).{0,10}(?:ください|て|こと)|避けて"
        r"|守って|で(?:答え|返事し|書い)て(?:ください|。|$|ね)|心がけ",
    ),
    preference=(
        r"(?:ほうが|方が)(?:好き|いい|良い|助か|ありがた)|好みです|を好み|苦手|嫌い|(?:食べ|飲み|飲め"
        r"|食べられ)(?:ません|ない)(?:。|$|の|ん|です)|アレルギー|ベジタリアン"
        r"|ヴィーガン|ビーガン|菜食|糖尿病|(?:は|が)だめ(?:です|なん)|一番好きな.{1,10}は|派です",
        r"覚えておい|覚えてお|忘れないで|念頭に|留意|ご承知おき|心に留め",
    ),
    name=(r"と呼んで|って呼んで|と呼ばれて|私の名前は|僕の名前は|と申します",),
    owner=(r"担当(?:は|者|です|して|する|になり|が)|責任者|責任を持|管理して(?:いる|いま)|窓口は|が仕切",),
    deadline=(r"締め?切り?|期限|〆切|期日|納期|までに(?:提出|完成|終|出|納|必|仕上|し)|遅くとも",),
    decision=(
        r"(?:に|と|ことに)(?:決め|決ま|決定|しました|合意|なりました)|決めました|決定しました|採用(?:し|する)"
        r"|選びました|(?:案|プラン|方針|で)(?:で)?(?:行き|いき"
        r"|進め)(?:ましょう|ます|よう)|ことにした|ことにする|合意しました|で確定",
    ),
    change=(
        r"もう.{0,12}ない|やめ|変更|変わ|代わり|かわり|今は|今後|解除|撤回|中止|延期|前倒し|取り消|に移"
        r"|なくてもいい|なくていい|ではなく|てもよ|ても構",
    ),
    passing=(r"(?:か)?[？?]$|か。$|昨日|先週|去年|^(?:ありがとう|こんにちは)",),
)
KOREAN = Forms(
    rule=(
        r"(?:영어|한국어|반말|존댓말|높임말|짧게|간단히)(?:로)? .{0,10}(?:해|답|대답|말|써)",
        r"지 ?(?:마|말(?:아|고|것|라|자|도록)|않(?:도록|게|기로|아야))|(?:면|서는|해선|하면) ?안 ?(?:돼|되"
        r"|됩|된)|(?:안|않) ?(?:됩니다|돼요|된다)|금지|금물|절대(?:로)?|반드시|꼭 .{1,30}(?:세요|줘|해|야"
        r"|주세요|십시오|것)|항상|언제나|늘 .{1,20}(?:줘|세요|해|써)|(?:해|어|아|여|워)야 ?(?:해|하|한|합|됩"
        r"|돼|된)|필수|의무|(?:앞으로|이제부터|지금부터|오늘부터|향후)(?:는|도|,)?|어떤 (?:경우|일이)에?도"
        r"|무슨 일이 있어도|예외 ?없이|(?:에서만|만 (?:사용|쓰|써|작업|허용)|로만|으로만|에만|까지만)"
        r"|(?:이하|이내|이상)(?:로|이어야|여야|만|을)|넘(?:으면|지|어서는)|최대|초과",
        r"전에.{0,15}(?:먼저)? ?(?:물어|확인|알려|상의|허락|연락|승인)|(?:허락|승인|동의|허가|확인) ?없이"
        r"|먼저 (?:물어|확인|알려|상의)|(?:모든|각|매번|매|어떤).{1,25}(?:야 ?(?:해|하|한|합|됩)|필요|필수"
        r"|있어야|세요|주세요)|(?:확실히|확인)(?:해|하)(?:세요|줘|도록)|도록 (?:해|하세요|하십시오)|(?:요일"
        r"|주말)(?:에는|엔|은).{0,15}(?:없|금지|안|않|못|말)|^(?:규칙|중요|조건|주의)\d*[：:]|(?:할 때(?:는"
        r"|마다)?|때마다|경우(?:에는|엔)?).{1,30}(?:세요|줘|해라|십시오|것)|(?:말고|대신).{1,20}(?:써|사용"
        r"|쓰)|(?:피해|지켜|삼가)(?:줘| 주세요|주세요|야|세요)?",
    ),
    preference=(
        r"선호|더 좋(?:아|습)|(?:이|가|을|를|은|는) ?(?:더 )?(?:싫|좋아하지 않|편합|편해)|싫어|(?:못"
        r"|안) ?(?:먹|마시|마셔|드)|알레르기|알러지|채식|비건|당뇨"
        r"|제일 좋아하는|가장 좋아하는|(?:저는|나는|전|난) .{1,15}(?:만 (?:먹|마셔|써|쓰))",
        r"기억해|잊지 ?(?:마|말)|명심|유의해|염두에|참고로",
    ),
    name=(r"(?:라고|이라고) ?(?:불러|부르)|제 이름은|내 이름은",),
    owner=(
        r"담당(?:합|이|자|해|하|은|입)|책임(?:자|집|을|지|입)|맡(?:습|고|아|았|기로)|관리(?:합니다|해요|하고 있)",
    ),
    deadline=(r"마감|기한|(?:까지) ?(?:제출|완료|끝내|내야|보내|마쳐|해야|완성)|데드라인|늦어도|납기",),
    decision=(
        r"(?:하|쓰|가|두|유지하|사용하|않)기로 ?(?:했|결정|합의|정)|결정(?:했|되|하였|입)|합의(?:했|하였|됐"
        r"|된)|(?:로|으로|안으로) ?(?:가죠|가자|갑시다|하죠|하자|합시다|정했|정합|결정)|선택했|확정",
    ),
    change=(
        r"더 ?이상|이제(?:는|부터)?|대신|변경|바뀌|바꿨|해제|취소|연기|미뤄|앞당|옮겨|철회|다시|안 해도|않아도"
        r"|말고",
    ),
    passing=(r"[?？]$|어제|지난주|작년|^(?:고마워|감사|안녕)",),
)
THAI = Forms(
    rule=(
        r"ห้าม|อย่า(?!ง|กังวล|เพิ่งท้อ|ลืมดูแล)|ต้อง(?!การ|ขอโทษ|ไป|บอกว่าสนุก)|เสมอ|ทุกครั้ง|เท่านั้น|ตั้งแต่(?:นี้|บัดนี้"
        r"|วันนี้|ตอนนี้)|ต่อจากนี้|จากนี้ไป|ต่อไปนี้|ไม่ว่า(?:กรณี|ยังไง|จะ|อย่างไร)|เด็ดขาด|ไม่ควร|ควร(?:จะ)?(?:ใช้"
        r"|ระบุ|มี|เขียน|ตอบ)|ไม่อนุญาต|จำเป็นต้อง|บังคับ|ไม่เกิน|อย่างน้อย|มากที่สุด(?:ไม่)?|งด|ก่อน(?:ที่จะ"
        r"|จะ)?.{0,30}(?:ถาม|บอก|แจ้ง|ขอ|ตรวจ)|(?:ถาม|บอก|แจ้ง|ปรึกษา|ขออนุญาต|เช็ค)(?:ฉัน|ผม|เรา|ดิฉัน"
        r"|กับ)?.{0,10}ก่อน|โดยไม่(?:ได้รับ|ถาม|ขอ|แจ้ง)|ให้แน่ใจ|ทำให้แน่ใจ|ดูให้|ทุก.{1,25}(?:ต้อง|ควร)|หลีกเลี่ยง"
        r"|^(?:กฎ|สำคัญ|เงื่อนไข)\d*[：:]|(?:ถ้า|เมื่อ|เวลา|ทุกครั้งที่).{2,40}ให้|ใช้.{1,20}(?:แทน|ไม่ใช่)"
        r"|แค่.{1,20}เท่านั้น|ยกเว้น",
    ),
    preference=(
        r"(?:ชอบ|อยากได้).{1,40}(?:มากกว่า|ที่สุด)|ไม่ชอบ|เกลียด|(?:ไม่|กิน.{1,10}ไม่)(?:กิน|ทาน|ดื่ม|ได้กิน)"
        r"|กิน.{0,15}ไม่ได้|แพ้|มังสวิรัติ|กินเจ|เบาหวาน|วีแกน|จำไว้|อย่าลืมว่า|โปรดทราบ|พึงระลึก|สะดวกกว่า",
    ),
    name=(r"เรียก(?:ผม|ฉัน|ดิฉัน|เรา|หนู)(?:ว่า)?|(?:ผม|ฉัน|ดิฉัน|หนู)ชื่อ|ชื่อของ(?:ผม|ฉัน)",),
    owner=(r"รับผิดชอบ|ดูแลเรื่อง|เป็นคนดูแล|เป็นผู้ดูแล|เป็นเจ้าของ|เป็นผู้อนุมัติ",),
    deadline=(r"กำหนดส่ง|เส้นตาย|วันสุดท้าย|ภายในวันที่|หมดเขต|เดดไลน์|อย่างช้า|ต้อง.{1,30}ภายใน",),
    decision=(
        r"ตัดสินใจ|ตกลง(?:กันว่า|ใช้|ว่า|เลือก|กัน)|เลือก(?:ใช้|แบบ|แผน)|เอา(?:แผน|แบบ|ตาม"
        r"|อัน).{1,20}(?:แล้วกัน|เลย|นะ|ดีกว่า)|ใช้แผน|สรุป(?:ว่า|แล้ว)",
    ),
    change=(r"ไม่.{1,30}(?:อีกต่อไป|แล้ว)|แทน|ตอนนี้|เปลี่ยน|ยกเลิก|เลื่อน|ย้าย|ตั้งแต่นี้|กลับมา|ไม่ต้อง.{1,20}แล้ว|ได้แล้ว",),
    passing=(r"[?？]$|(?:ไหม|มั้ย|หรือเปล่า)$|เมื่อวาน|สัปดาห์ที่แล้ว|ปีที่แล้ว|^ขอบคุณ",),
)

SPACED: Mapping[str, Forms] = {
    "English": ENGLISH,
    "German": GERMAN,
    "French": FRENCH,
    "Spanish": SPANISH,
    "Russian": RUSSIAN,
    "Polish": POLISH,
    "Vietnamese": VIETNAMESE,
    "Greek": GREEK,
}
"""Languages that are told by their words."""
BY_SCRIPT: tuple[tuple[str, str, Forms], ...] = (
    ("Hebrew", "\u0590-\u05ff", HEBREW),
    ("Persian", "پچژگک\u06cc\u200c", PERSIAN),
    ("Arabic", "\u0620-\u0652", ARABIC),
    ("Hindi", "\u0900-\u097f", HINDI),
    ("Japanese", "\u3040-\u30ff", JAPANESE),
    ("Chinese", "\u4e00-\u9fff", CHINESE),
    ("Korean", "\uac00-\ud7a3", KOREAN),
    ("Thai", "\u0e00-\u0e7f", THAI),
)
"""Languages that are told by letters, each with a range of them; the first that has one is the language."""
TURKISH_LETTERS = "ğış"
_TURKISH = """
    asla hiçbir bundan sadece bana ben için önce olmadan sonra son ile günleri bütçe lütfen tercih kadar zaman sorumlu
    alerjim alerjisi cevap bahsetme hitap kimse
"""
TURKISH_WORDS = frozenset(_TURKISH.split())
TURKISH_ENDINGS = (
    *("larda", "lerde", "ları", "lari", "leri", "ların", "larin", "lerin"),
    *("yorum", "yoruz", "malı", "mali", "meli", "nda", "nde"),
)
"""Letters, words and endings of Turkish: its verbs end like words of other languages, so only these tell it."""
PASTED_NOUNS = (
    r"e-?mails?|mails?|messages?|documents?|articles?|pages?|texts?|posts?|papers?|contracts?|polic(?:y|ies)"
    r"|readme|files?|logs?|outputs?|transcripts?|letters?|reports?|notes|chapters?|stor(?:y|ies)|essays?"
    r"|websites?|contents?|threads?|tickets?|drafts?|excerpts?|passages?|snippets?|descriptions?"
    r"|instructions from|quotes?|nachricht|dokument|artikel|seite|vertrag|brief|bericht|auszug|protokoll"
    r"|aufsatz|courriel|courrier|lettre|texte|contrat|rapport|extrait|correo|carta|texto|contrato|informe"
    r"|artículo|documento|página|письмо|текст|документ|статья|статью|страниц\w{1,30}|договор|отчёт|сообщение"
    r"|wiadomość|dokument|artykuł|umow\w{1,30}|tekst|stron\w{1,30}|raport|e-posta|belge|makale|metin"
    r"|sözleşme|sayfa|rapor|tài liệu|bài viết|văn bản|hợp đồng|thư|trang|κείμενο|έγγραφο|άρθρο|μήνυμα"
    r"|συμβόλαιο|σελίδα|מייל|מסמך|מאמר|טקסט|חוזה|הודעה|עמוד|بريد|رسالة|مستند|مقال|نص|عقد|صفحة|ایمیل|سند"
    r"|مقاله|متن|قرارداد|صفحه|ईमेल|दस्तावेज़|लेख|पाठ|अनुबंध|पत्र|पन्ना|邮件|文件|文章|网页|合同|文本|内容|报告"
    r"|メール|文書|記事|ページ|契約|文章|本文|메일|문서|기사|페이지|계약서|글|본문|อีเมล|เอกสาร|บทความ"
    r"|หน้าเว็บ|สัญญา|ข้อความ"
)
"""What people paste, and announce before they do."""
ANNOUNCING = (
    r"\b(?:summari[sz]e|translate|proofread|review|rewrite|edit|correct|analy[sz]e|read|explain|shorten"
    r"|paraphrase|improve|look at|here is|here's|here are|fasse?|übersetze?|korrigiere?|lies|hier ist|résume"
    r"|traduis|corrige|voici|resume|traduce|corrige|aquí está|переведи|перескажи|исправь|вот|przetłumacz"
    r"|streść|popraw|çevir|özetle|dịch|tóm tắt|μετάφρασε|συνόψισε)\b|翻译|总结|概括|要約|翻訳|번역|요약|แปล"
    r"|สรุป|ترجم|لخص|خلاصه|अनुवाद|सारांश|תרגם|סכם"
)
"""What asks for something to be done to a text that follows."""
MAIL_LABELS = (
    r"from|to|cc|sent|date|subject|von|an|gesendet|datum|betreff|de|para|à|objet|envoyé|asunto|enviado|fecha"
    r"|от|кому|тема|дата|od|do|temat|data|kimden|kime|konu|tarih|từ|đến|chủ đề|ngày|από|προς|θέμα|ημερομηνία"
    r"|מאת|אל|נושא|תאריך|من|إلى|الموضوع|التاريخ|از|به|موضوع|تاریخ|प्रेषक|सेवा में|विषय|दिनांक|发件人|收件人"
    r"|主题|日期|差出人|宛先|件名|日時|보낸 ?사람|받는 ?사람|제목|날짜|จาก|ถึง|เรื่อง|วันที่"
)
"""Labels at the head of a mail; two of them in a row are one."""
LIFTED = (
    r"\b(?:lifted|cancell?ed|revoked|withdrawn|obsolete|void|scrapped|dropped|overruled|overturned"
    r"|off the table|is over|no longer|forget|disregard|aufgehoben|abgesagt|hinfällig|gilt nicht mehr"
    r"|vergiss|levée?|annulée?|abandonnée?|levantad[oa]|se levantó|cancelad[oa]|anulad[oa]|отмен\w{1,30}"
    r"|снят\w{0,30}|сняли|zniesion\w{1,30}|odwołan\w{1,30}|kaldırıldı|iptal|bãi bỏ|đã bỏ|hủy|άρθηκε|αίρεται"
    r"|ακυρώ\w{1,30})\b|בוטל|הוסר|ألغي|إلغاء|رُفع|لغو شد|برداشته شد|रद्द|हटा दिया|取消|解除|作废|解除|撤回"
    r"|中止|해제|취소|철회|ยกเลิก"
)
"""What takes back all that it names."""
_COUNTS = """
    thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety hundred thousand million first second third fourth fifth sixth seventh eighth
    ninth tenth once twice vier fünf sechs sieben acht neun zehn zwanzig dreißig vierzig fünfzig sechzig
    hundert tausend deux trois quatre cinq six sept huit neuf dix vingt trente quarante cinquante
    soixante cent mille dos tres cuatro cinco seis siete ocho nueve diez veinte treinta cuarenta
    cincuenta sesenta cien mil
"""
COUNTS = frozenset(_COUNTS.split())
"""Numbers in words: what may differ between two sentences about the same."""
DENIED = (
    r"\b(?:not|never|no|none|nobody|nothing|without|cannot|forbid\w{0,30}|forbidden|prohibit\w{0,30}|banned"
    r"|avoid\w{0,30}|refrain\w{0,30}|nicht|nie|niemals|kein\w{0,30}|ohne|verboten|untersagt|vermeid\w{0,30}"
    r"|keinesfalls|pas|jamais|aucune?|interdit\w{0,30}|sans|évit\w{0,30}|nunca|jamás|ningun[oa]|ningún"
    r"|prohibid\w{0,30}|sin|evit\w{0,30}|не|нельзя|никогда|нет|запре\w{0,30}|без|никаких|избег\w{0,30}|nie"
    r"|nigdy|żadn\w{0,30}|bez|zakaz\w{0,30}|zabron\w{0,30}|unika\w{0,30}|asla|hiçbir|değil|yok|yasak\w{0,30}"
    r"|không|đừng|cấm|tránh|δεν|μην?|ποτέ|χωρίς|απαγορεύ\w{0,30}|לא|אל|אין|אסור|בלי|ללא|لا|لن|لم|ممنوع|دون"
    r"|بدون|يمنع|يحظر|ألا|غير|نه|نباید|ممنوع|هرگز|بدون)\b|n't\b|\w{2}m[ae](?:y[ıi]n)?[.!]?$|(?:^|\s)ن(?:کن"
    r"|ده|زن|فرست|گذار|نویس|گو)|मत|नहीं|मना|बिना|वर्जित|不|别|勿|禁|没|未|ない|ません|禁止|なし|避け|지 ?마"
    r"|지 ?말|않|안 ?되|안 ?돼|금지|없|못|ไม่|ห้าม|อย่า|งด"
)
"""What turns the sense of a sentence round."""
MAIL_WROTE = (
    r"wrote|schrieb|a écrit|escribió|написал\w{0,30}|pisze|napisał\w{0,30}|yazdı|đã viết|έγραψε|כתב\w{0,30}"
    r"|كتب|نوشت|ने लिखा|写道|のメッセージ|썼습니다|작성|เขียนว่า"
)
"""What stands at the end of the line above a quoted mail."""
