"""What a hunt has seen and found, in its folder: a second hunt there goes on where this one ended.

`hunt.json` has the state; each finding has a spec and a program beside it, in the folder of its
kind. The state is replaced as a whole, so that no interruption leaves half of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError
from gradcheck.hunter.bandit import Arm

if TYPE_CHECKING:
    from pathlib import Path

STATE = "hunt.json"
FORMAT = 1
KNOWN_CALLS = 6
"""Calls that are kept of each target: others are made of them in the next visit."""
MOST_DOUBTS = 3
"""How often a cause is looked into again that could not be confirmed."""


LONGEST_DOUBT = 900
"""Characters of what is kept about something that was not confirmed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure that was confirmed and written down."""

    cause: str
    kind: str
    blamed: str
    """The op or function whose gradient it is."""
    mode: str
    check: str
    dtype: str
    told: str
    """What was seen, in a sentence."""
    spec: str
    """The file, seen from the folder of the hunt."""
    shared: str = ""
    """The cause as that of the function that makes the gradient, whichever kernel it is of."""
    diagnosis: str = ""
    """The likely cause, by its short name."""


@dataclass(slots=True)
class Ledger:
    """The state of a hunt."""

    folder: Path
    seed: int = 0
    cases: int = 0
    seconds: float = 0.0
    arms: dict[str, Arm] = field(default_factory=dict)
    calls: dict[str, list[Any]] = field(default_factory=dict)
    """By target: drafts that worked."""
    seen: set[str] = field(default_factory=set)
    """What was new once: features with their verdicts."""
    findings: list[Finding] = field(default_factory=list)
    doubts: dict[str, list[str]] = field(default_factory=dict)
    """By cause: why what looked like a failure was not taken for one."""
    own_errors: dict[str, str] = field(default_factory=dict)
    """Failures of the checker itself, by target: nothing is said of those gradients."""

    @classmethod
    def open(cls, folder: Path, seed: int) -> Ledger:
        """The state that is there, or a new one; UsageError where it cannot be read."""
        path = folder / STATE
        if not path.exists():
            return cls(folder, seed)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise ValueError(f"its format is {data['format']}")
            return cls(
                folder,
                data["seed"],
                data["cases"],
                data["seconds"],
                {name: Arm(**arm) for name, arm in data["arms"].items()},
                data["calls"],
                set(data["seen"]),
                [Finding(**finding) for finding in data["findings"]],
                data["doubts"],
                data["own_errors"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{path} is not the state of a hunt ({error}): name another --output, or remove it"
            ) from None

    def save(self) -> None:
        """Write the state."""
        data = {
            "format": FORMAT,
            "seed": self.seed,
            "cases": self.cases,
            "seconds": round(self.seconds, 1),
            "arms": {name: asdict(arm) for name, arm in self.arms.items()},
            "calls": self.calls,
            "seen": sorted(self.seen),
            "findings": [asdict(finding) for finding in self.findings],
            "doubts": self.doubts,
            "own_errors": self.own_errors,
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f"{STATE}.new"
            new.write_text(json.dumps(data), encoding="utf-8")
            new.replace(self.folder / STATE)
        except OSError as error:
            raise UsageError(f"{self.folder} cannot be written: {error.strerror}") from None

    def is_new(self, target: str, feature: str) -> bool:
        """Whether this was not seen before; from now on it was."""
        text = f"{target} {feature}"
        if text in self.seen:
            return False
        self.seen.add(text)
        return True

    def keep_call(self, target: str, draft: Any) -> None:
        """Remember a call that works: the first ones, and the last in place of the one before."""
        known = self.calls.setdefault(target, [])
        if len(known) >= KNOWN_CALLS:
            known.pop()
        known.append(draft)

    def is_settled(self, cause: str) -> bool:
        """Whether a cause needs no more looking into."""
        return self.has(cause) or len(self.doubts.get(cause, ())) >= MOST_DOUBTS

    def told_by(self, shared: str, blamed: str, kind: str, diagnosis: str) -> str:
        """The finding that the same function is to blame for; empty where there is none.

        Two that are known to go wrong in different ways are two, as are two kinds of one kernel.
        """
        for finding in self.findings:
            differs = finding.diagnosis and diagnosis and finding.diagnosis != diagnosis
            differs = differs or (finding.blamed == blamed and finding.kind != kind)
            if shared and finding.shared == shared and not differs:
                return finding.cause
        return ""

    def has(self, cause: str) -> bool:
        """Whether this was found."""
        return any(finding.cause == cause for finding in self.findings)

    def doubt(self, cause: str, why: str) -> None:
        """Note that something was not confirmed."""
        self.doubts.setdefault(cause, []).append(why[:LONGEST_DOUBT])

    def settle(self, cause: str, why: str) -> None:
        """Note that something needs no more looking into."""
        self.doubts[cause] = [why[:300]] * MOST_DOUBTS

    def write(self, finding: Finding, spec: str, script: str) -> None:
        """Write a finding down, both files and the state."""
        path = self.folder / finding.spec
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(spec, encoding="utf-8")
            if script:
                path.with_suffix(".py").write_text(script, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        self.findings.append(finding)
        self.save()

    def file_for(self, kind: str, blamed: str, mode: str, check: str, numbers: str) -> str:
        """A name for the spec of a finding that no other has."""
        parts = [blamed.removeprefix("tf.raw_ops."), numbers, mode, check]
        usual = ("real", "eager", "reverse")
        slug = "-".join(part for part in parts if part not in usual)
        slug = re.sub(r"[^A-Za-z0-9]+", "-", slug).strip("-").lower() or "finding"
        taken = {finding.spec for finding in self.findings}
        name, number = f"{kind}/{slug}.yaml", 2
        while name in taken:
            name, number = f"{kind}/{slug}-{number}.yaml", number + 1
        return name
