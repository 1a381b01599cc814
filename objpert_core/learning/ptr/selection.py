"""The best of a random number of runs, each with a candidate drawn at random: what to propose, chosen privately."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from objpert_core._validation import in_open_unit
from objpert_core.accounting import Mechanism, PrivateSelection, liu_talwar_epsilon
from objpert_core.accounting.mechanisms.base import a_mechanism
from objpert_core.accounting.numerics.safe_root import nudged
from objpert_core.accounting.ptr.mechanism import ApproximateDP, ProposeTestRelease
from objpert_core.learning.certificates.as_given import AS_GIVEN
from objpert_core.learning.geometric import first_success
from objpert_core.learning.noise import NoiseSource
from objpert_core.learning.ptr.certificate import BestOfCertificate
from objpert_core.learning.ptr.framework import RandomState
from objpert_core.learning.release import Refused, Released
from objpert_core.learning.sampling import Streams, best_among, poisson_count, uniform_choices

_COUNT, _PICKS, _RUN = 0, 1, 2  # names of streams
_UP = 1 + 1e-12
Candidate = TypeVar("Candidate")


def best_of(
    run: Callable[[Candidate, NoiseSource], Any],
    candidates: Sequence[Candidate],
    score: Callable[[Any], float],
    *,
    base: Mechanism,
    mean_runs: float,
    delta: float | None = None,
    eta: float | None = 1,
    random_state: RandomState = None,
) -> Released[Any, BestOfCertificate] | Refused[BestOfCertificate]:
    """Run K times with a candidate drawn at random, K random, and release the answer with the highest score.

    Redberg, Zhu and Wang (2023), Algorithm 3, whose ε and δ (their Theorem 4.6) are much larger: `liu_talwar_epsilon`
    and `PrivateSelection`, docs/theorems.md, T11. Of equal scores the first wins: runs are exchangeable, so the first
    is as good as one drawn at random.

    Parameters
    ----------
    run : callable
        ``run(candidate, source)`` gives one answer, all randomness from `source`; a `Released`, a `Refused`, or any
        other value. On every candidate `run` is as private as `base` says, about the same rows.
    candidates : sequence
        Fixed beforehand. Drawn from with replacement.
    score : callable
        From an answer to a number. The score may look at public rows and at nothing else that the promise covers. A
        refused answer is not scored, and counts as worse than any other; a NaN is as bad as −∞.
    base : Mechanism
        What one run costs; made of numbers (`ProposeTestRelease`, `ApproximateDP`, `Gaussian`, …).
    mean_runs : float >= 1 (> 0 for Poisson)
        E[K].
    delta : float strictly between 0 and 1, optional
        The certificate's δ. Where `base` is known by one pair (ε, δ) with δ > 0, the default is E[K]·δ.
    eta : {1, None}
        1: K is geometric, 1 or more. None: K is Poisson; K = 0 gives ⊥, and `base` must have a Rényi curve.
    random_state : None, int, RandomState or Generator
        As for `noise_source`.

    Returns
    -------
    Released or Refused
        The best answer; `Released.published` holds its "candidate" and its "score", both covered. K and all other
        answers stay secret. Refused if all K runs refused.

    Raises
    ------
    ValueError, NotImplementedError
        If nothing is proved at this δ, or for this law of K. No run has then been made.

    Examples
    --------
    >>> from objpert_core.accounting import Gaussian
    >>> noisy = lambda size, source: size + 20 * source.standard_normal(1)[0]
    >>> found = best_of(noisy, [1.0, 2.0], score=abs, base=Gaussian(20.0), mean_runs=5, delta=1e-5)
    >>> sorted(found.published), found.certificate.verify()
    (['candidate', 'score'], True)
    """
    for name, given in (("run", run), ("score", score)):
        if not callable(given):
            raise ValueError(f"{name} must be a function, got {given!r}")
    offered = list(candidates)
    if not offered:
        raise ValueError("candidates must be one or more, got none")
    if eta is not None and eta != 1:
        raise ValueError(f"eta must be 1 or None, got {eta!r}")
    selection = PrivateSelection(a_mechanism("base", base), mean_runs, eta)
    streams = Streams(random_state)
    certificate = _certificate(selection, delta, streams, len(offered))
    if selection.gamma is None:
        runs = poisson_count(streams.stream(_COUNT), selection.mean_runs)
    else:
        runs = first_success(streams.stream(_COUNT), selection.gamma)
    picks = uniform_choices(streams.stream(_PICKS), len(offered), runs)
    answers = ((pick, run(offered[pick], streams.stream(_RUN, at))) for at, pick in enumerate(picks))
    released = ((pick, _value(answer)) for pick, answer in answers if not isinstance(answer, Refused))
    best = best_among(released, lambda one: score(one[1]))
    if best is None:
        return Refused(certificate, "nothing was released: no run has given an answer")
    own, (pick, value) = best
    return Released(value, certificate, {"candidate": offered[pick], "score": own})


def _value(answer: Any) -> Any:
    return answer.value if isinstance(answer, Released) else answer


def _certificate(
    selection: PrivateSelection, delta: float | None, streams: Streams, candidates: int
) -> BestOfCertificate:
    """Every field is fixed before anything is run."""
    base = selection.base
    if delta is not None:
        target = in_open_unit("delta", delta)
    elif isinstance(base, ApproximateDP | ProposeTestRelease) and base.guarantee[1] > 0:
        target = in_open_unit("mean_runs times the δ of base", base.guarantee[1] * selection.mean_runs * _UP)
    else:
        raise ValueError("delta must be a number strictly between 0 and 1 for this base, got None")
    epsilon = _epsilon(selection, target)
    if epsilon == math.inf:
        raise ValueError(f"delta must be large enough for the best of these runs to keep an ε, got {target!r}")
    return BestOfCertificate.from_mechanism(
        selection,
        epsilon=epsilon,
        delta=target,
        accountant="profile",
        row_norm=AS_GIVEN,
        intercept_scaling=0.0,
        **streams.provenance,
        candidates=candidates,
    )


@lru_cache(maxsize=256)
def _epsilon(selection: PrivateSelection, delta: float) -> float:
    """The smaller ε of two proofs; where δ is E[K] times that of one run, only the second proof reaches δ."""
    epsilon = float(selection.epsilon(delta))
    if selection.eta is not None:
        epsilon = min(epsilon, float(liu_talwar_epsilon(selection.base, delta, selection.mean_runs)))
    if epsilon == math.inf:
        return epsilon
    return nudged(lambda found: selection.delta(found) <= delta, lambda more: epsilon * (1 + more), 2.0**-52)
