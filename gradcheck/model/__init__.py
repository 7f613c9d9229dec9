"""The nouns of gradcheck, as frozen dataclasses over the standard library and numpy.

Everything here can be pickled and sent to another process, and nothing here computes: a Case is
what the spec said, a Result is what the check saw. Imports nothing else of gradcheck (but that
`shown` knows by name who shows a Result).
"""

from gradcheck.model.arrays import Array, Scalar, Shape
from gradcheck.model.called_gradients import GradientCall
from gradcheck.model.cases import (
    Case,
    CheckKind,
    Expectation,
    Input,
    KnownBug,
    Location,
    Mode,
    Sample,
    Target,
    TargetKind,
    Tolerance,
    Upstream,
)
from gradcheck.model.close_ups import CloseUp
from gradcheck.model.problems import SpecProblem
from gradcheck.model.results import (
    ANOTHER_IN_ITS_MODE,
    JUDGED_SOME,
    LEFT_CHANGED,
    NO_DOUBLE,
    NOTHING_TO_JUDGE,
    CodePlace,
    Comparison,
    Diagnosis,
    Element,
    Result,
    magnitude,
)
from gradcheck.model.stages import Stage
from gradcheck.model.structures import Argument, Group, Ragged, Sparse, Template
from gradcheck.model.suites import Plan, Shard, Summary
from gradcheck.model.verdicts import Verdict, worst_verdict

__all__ = [
    "ANOTHER_IN_ITS_MODE",
    "JUDGED_SOME",
    "LEFT_CHANGED",
    "NOTHING_TO_JUDGE",
    "NO_DOUBLE",
    "Argument",
    "Array",
    "Case",
    "CheckKind",
    "CloseUp",
    "CodePlace",
    "Comparison",
    "Diagnosis",
    "Element",
    "Expectation",
    "GradientCall",
    "Group",
    "Input",
    "KnownBug",
    "Location",
    "Mode",
    "Plan",
    "Ragged",
    "Result",
    "Sample",
    "Scalar",
    "Shape",
    "Shard",
    "Sparse",
    "SpecProblem",
    "Stage",
    "Summary",
    "Target",
    "TargetKind",
    "Template",
    "Tolerance",
    "Upstream",
    "Verdict",
    "magnitude",
    "worst_verdict",
]
