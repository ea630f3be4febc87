"""What is wrong with a submission: its answer, looked up among those of all known mistakes.

`diagnose(dictionary, submission)` runs the probe; the entry of the table within tolerance is the
diagnosis. Entries that cannot be told apart are all named, those with the fewest faults if there is
a choice. Where nothing matches there is no guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from autograder.fault_table import Table
from autograder.faults import Dictionary, Fault


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong; `alternatives` has more than one member where they cannot be told apart.

    No faults at all: the answer to the probe is right, so the mistake lies where it does not look.
    """

    exercise: str
    alternatives: tuple[tuple[Fault, ...], ...]

    @property
    def faults(self) -> list[str]:
        """The ids of all faults named."""
        return list(dict.fromkeys(fault.id for faults in self.alternatives for fault in faults))

    @property
    def text(self) -> str:
        """One sentence for the student, or "" where there is nothing to say."""
        common = [
            f for f in self.alternatives[0] if all(f in faults for faults in self.alternatives)
        ]
        clauses = [fault.sentence for fault in common]
        if len(self.alternatives) > 1:
            rest = (
                " and ".join(fault.sentence for fault in faults if fault not in common)
                for faults in self.alternatives
            )
            clauses.append("either " + ", or ".join(rest))
        text = _listed(clauses)
        return text[:1].upper() + text[1:] + "." if text else ""

    @property
    def hints(self) -> list[str]:
        """A question for each fault."""
        return list(dict.fromkeys(fault.hint for faults in self.alternatives for fault in faults))


def run_probe(dictionary: Dictionary, submission: Any) -> np.ndarray | None:
    """The submission's answer to the probe, or None where it cannot be had.

    A tuple stands for its first tensor; any real dtype will do. What ends the worker itself (a
    time-out, a crash) is not an `Exception` and passes through.
    """
    try:
        with torch.no_grad():
            result = dictionary.probe(submission)
        while isinstance(result, (tuple, list)) and result:
            result = result[0]
        if isinstance(result, np.ndarray):
            result = torch.from_numpy(result)
        if not isinstance(result, torch.Tensor) or result.is_complex():
            return None
        return result.detach().to_dense().float().numpy()
    except Exception:
        return None


def diagnose(
    dictionary: Dictionary, submission: Any, table: Table | None = None
) -> Diagnosis | None:
    """What is wrong with `submission`, or None when nothing known gives its answer."""
    answer = run_probe(dictionary, submission)
    if answer is None:
        return None
    alternatives = (table or Table.of(dictionary)).look_up(answer)
    return Diagnosis(dictionary.exercise, tuple(alternatives)) if alternatives else None


def _listed(clauses: list[str]) -> str:
    """`a`, `a, and b`, `a, b, and c`; with semicolons where a clause has a comma of its own."""
    between = "; " if any("," in clause for clause in clauses) else ", "
    return f"{between}and ".join(filter(None, (between.join(clauses[:-1]), *clauses[-1:])))
