"""What the exit code of a command means."""

from __future__ import annotations

from enum import IntEnum

from likely.explain import Explanation


class Code(IntEnum):
    """Exit codes; everything but 0 and 1 comes with a sentence on standard error or in the output."""

    #: All is well: there is an answer, everything was done.
    ANSWER = 0
    #: The answer is no: a data file does not fit its schema.
    NO = 1
    #: The request cannot be carried out: a bad option, a missing file, a model that does not fit.
    USAGE = 2
    #: Proved: no counterfactual exists.
    NONE_EXISTS = 3
    #: No answer within the limits, and no proof that there is none.
    UNDECIDED = 4
    #: A claim does not hold.
    FAILED = 5
    #: Ctrl-C; what was finished is kept.
    INTERRUPTED = 130


LEGEND = """\
exit codes: 0 done, with an answer; 1 the answer is no (schema check); 2 the request cannot be carried out;
3 proved that there is no answer; 4 no answer within the limits; 5 a claim does not hold; 130 interrupted"""

_OF_STATUS = {"infeasible": Code.NONE_EXISTS, "unknown": Code.UNDECIDED, "disputed": Code.UNDECIDED}


def code_of(explanation: Explanation) -> Code:
    """The exit code of one explanation."""
    if explanation.interrupted and not explanation:
        return Code.INTERRUPTED
    return _OF_STATUS.get(explanation.status, Code.ANSWER)
