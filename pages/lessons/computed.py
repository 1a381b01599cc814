"""Numbers that lessons name: each is computed by the core, or read from stored runs, when the page is drawn.

`NUMBERS` is the list. ``{{epsilon sigma=10 lam=5}}`` in a lesson's text becomes 0.341; the same words after ``answer:``
choose the option whose first number is nearest.
"""

import inspect
import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import objpert_core.accounting as acc
from objpert_core.evaluation.classes import BINS
from objpert_core.evaluation.estimates import variance_of_rounded
from objpert_core.exceptions import DataUnavailableError
from objpert_core.experiments.indexed import load_or_none
from objpert_core.experiments.intervals import stored as simulations
from objpert_core.experiments.learners import NON_PRIVATE, TIGHT
from pages.lessons import scene
from pages.lessons.coin import Coin
from ui import page, sentences
from ui.lesson_text import NUMBER, LessonError, Question, arguments

NEAR = 0.05
"""How near, relatively, the right option's number has to be to the computed one, and how far any other is from it."""

_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
_VALUE = re.compile(
    r"(?P<power>10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(?P<number>[−-]?\d[\d,]*(?:\.\d+)?)(?:×10(?P<exponent>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
)


def _up(value: float) -> str:
    return sentences.scientific(value, 3, up=True)


def _nearest(value: float) -> str:
    """As a calculator shows it: ln 1.5 is 0.4055."""
    return sentences.number(value, 4)


def _down(value: float) -> str:
    return sentences.number(math.floor(value * 10) / 10)


# --- one fit ----------------------------------------------------------------------------------------------------------


def _fit(sigma: float, lam: float, bound: str, smoothness: float | None) -> acc.ObjectivePerturbation:
    if smoothness is None:
        return acc.ObjectivePerturbation(sigma, lam, bound=bound)
    return acc.ObjectivePerturbation(sigma, lam, smoothness=smoothness, bound=bound)


def epsilon(
    sigma: float,
    lam: float,
    *,
    bound: str = "logistic",
    smoothness: float | None = None,
    delta: float = 1e-5,
    fits: float = 1,
) -> float:
    """ε of one fit, or of several together, on rows of norm at most 1."""
    fit = _fit(sigma, lam, bound, smoothness)
    return float((fit if fits == 1 else acc.repeat(acc.symmetrised(fit), int(fits))).epsilon(delta))


def fits_times(sigma: float, lam: float, *, fits: float, bound: str = "logistic", delta: float = 1e-5) -> float:
    """How many times the ε of one fit several have together."""
    return epsilon(sigma, lam, bound=bound, fits=fits, delta=delta) / epsilon(sigma, lam, bound=bound, delta=delta)


def looseness(sigma: float, lam: float, *, bound: str, smoothness: float | None = None, delta: float = 1e-5) -> float:
    """How many times the smallest ε that any proof could show a bound shows."""
    return float(_fit(sigma, lam, bound, smoothness).epsilon(delta) / acc.Gaussian(sigma).epsilon(delta))


def misses(sigma: float, lam: float, *, accused: float = 0.05, bound: str = "logistic") -> float:
    """How many per cent of those in the data an attacker misses at least who accuses that share of the others."""
    return 100 * float(_fit(sigma, lam, bound, None).tradeoff(accused))


def noise(epsilon: float, *, delta: float = 1e-5) -> float:
    """σ that the package picks for a promise, on rows of norm at most 1."""
    return _calibrated(epsilon, delta).sigma


def noise_times(epsilon: float, *, than: float, delta: float = 1e-5) -> float:
    """How many times the σ of another promise it picks."""
    return noise(epsilon, delta=delta) / noise(than, delta=delta)


def regularisation(epsilon: float, *, delta: float = 1e-5) -> float:
    """λ that goes with that σ."""
    return _calibrated(epsilon, delta).lam


@lru_cache(maxsize=100)
def _calibrated(epsilon: float, delta: float) -> acc.ObjectivePerturbation:
    mechanism = acc.calibrate_objective_perturbation(epsilon, delta)
    return mechanism.objective if isinstance(mechanism, acc.ApproximateMinima) else mechanism


# --- the survey, bets and noise ---------------------------------------------------------------------------------------


def coin_epsilon(truth: float, *, answers: float = 1, delta: float = 0.0) -> float:
    """ε of answers by a coin, added up or with a slack."""
    coin = Coin(truth, int(answers))
    return coin.epsilon(delta) if delta else coin.loss


def coin_times(truth: float, *, answers: float = 1) -> float:
    """How many times likelier one truth can make those answers."""
    return Coin(truth, int(answers)).times


def share_error(truth: float, *, people: float) -> float:
    """Within how many points of the true share 95 % of the estimates fall."""
    return 196 * Coin(truth).share_error(int(people))


def chance(epsilon: float, *, prior: float = 0.5) -> float:
    """To how many per cent a chance of `prior` can rise."""
    return 100 * float(scene.after(prior, epsilon))


def odds(epsilon: float) -> float:
    """e^ε."""
    return math.exp(epsilon)


def gaussian_delta(sigma: float, *, epsilon: float) -> float:
    """δ at ε of a number that you change by 1, with Gaussian noise."""
    return float(acc.Gaussian(sigma).delta(epsilon))


def gaussian_tail(sigma: float, *, epsilon: float) -> float:
    """How likely that number moves somebody's odds by more than e^ε."""
    return float(acc.Gaussian(sigma).tail(epsilon))


# --- tuning and accuracy ----------------------------------------------------------------------------------------------

_ADULT = (0.0071, 8520)  # sample rate and steps: Redberg et al. (2023), section 5, on Adult


def tuned(epsilon: float, *, settings: float, more: float = 0.9, delta: float = 1e-5) -> float:
    """ε of choosing among settings of DP-SGD, each run with that ε, by Papernot and Steinke's tuner; K is Poisson."""
    return _tuned(epsilon, int(settings), more, delta)


@lru_cache(maxsize=100)
def _tuned(epsilon: float, settings: int, more: float, delta: float) -> float:
    run = acc.calibrate_dpsgd(epsilon, delta, *_ADULT, accountant="rdp")
    tables = acc.tabulated(acc.via_rdp(run))
    return float(acc.PrivateSelection(tables, acc.mean_runs(settings, more, None), None).epsilon(delta))


def accuracy(epsilon: float, *, data: str) -> float:
    """Mean test accuracy of our private learner in per cent, from stored runs."""
    return 100 * _mean(data, TIGHT, epsilon)


def points_lost(epsilon: float, *, data: str) -> float:
    """By how many points that is below the learner without privacy."""
    return 100 * (_mean(data, NON_PRIVATE, epsilon) - _mean(data, TIGHT, epsilon))


def _mean(data: str, method: str, epsilon: float) -> float:
    stored = load_or_none(data)
    point = stored.point(method, epsilon) if stored else None
    if point is None:
        raise DataUnavailableError(f"no run on {data!r} at epsilon={epsilon:g} is stored")
    return float(point.accuracy.mean)


# --- what may be published --------------------------------------------------------------------------------------------


def releases(epsilon: float, *, times: float, delta: float = 1e-5) -> float:
    """ε of several releases with Gaussian noise, each with that ε, from the same people."""
    return float(acc.repeat(acc.calibrate_gaussian(epsilon, delta), int(times)).epsilon(delta))


def score_error(people: float, *, epsilon: float = math.inf, accuracy: float = 0.8, delta: float = 1e-5) -> float:
    """Within how many points an accuracy is sure, from noisy counts of test people, or without noise."""
    noise = 0.0 if math.isinf(epsilon) else variance_of_rounded(acc.calibrate_gaussian(epsilon, delta).sigma)
    wrong = 1 - accuracy
    return 196 * math.sqrt(accuracy * wrong * people + BINS * noise * (accuracy**2 + wrong**2)) / people


def covered(people: float, *, columns: float, epsilon: float, method: str = "interval", data: str = "even") -> float:
    """Of a hundred intervals at 95 %, how many hold the true coefficient, from stored simulations."""
    return 100 * _measured("", method, data, people, columns, epsilon)


def wider(people: float, *, columns: float, epsilon: float, data: str = "even") -> float:
    """How many times as wide as without privacy those of the package are."""
    return _measured("width", "interval", data, people, columns, epsilon)


def _measured(column: str, method: str, data: str, people: float, columns: float, epsilon: float) -> float:
    cells = {"shape": data, "n": int(people), "d": int(columns), "epsilon": epsilon}
    found = simulations.load("coverage").interval(column, method=method, **cells)
    if found is None:
        raise DataUnavailableError(f"no simulation with {method} at {cells} is stored")
    return float(found.mean)


# --- what lessons name ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """A number that lessons can name: the function, and how its value is written."""

    function: Callable[..., float]
    written: Callable[[float], str] = sentences.number


NUMBERS: Mapping[str, Number] = {
    "epsilon": Number(epsilon, _up),
    "fits_times": Number(fits_times),
    "looseness": Number(looseness),
    "misses": Number(misses, _down),
    "noise": Number(noise),
    "noise_times": Number(noise_times),
    "regularisation": Number(regularisation),
    "coin_epsilon": Number(coin_epsilon, _nearest),
    "coin_times": Number(coin_times, _up),
    "share_error": Number(share_error),
    "chance": Number(chance),
    "odds": Number(odds, _up),
    "gaussian_delta": Number(gaussian_delta, _up),
    "gaussian_tail": Number(gaussian_tail, _up),
    "tuned": Number(tuned, _up),
    "accuracy": Number(accuracy),
    "points_lost": Number(points_lost),
    "releases": Number(releases, _up),
    "score_error": Number(score_error),
    "covered": Number(covered),
    "wider": Number(wider),
}


def compute(words: str, line: int) -> tuple[float, str]:
    """A number by its name and arguments, "epsilon sigma=10 lam=5": its value, and how it is written; or a
    `LessonError`.
    """
    name, *rest = shlex.split(words)
    if name not in NUMBERS:
        raise LessonError(line, f"there is no number {name!r}; there are {', '.join(NUMBERS)}.")
    number, given = NUMBERS[name], arguments(rest, line)
    try:
        inspect.signature(number.function).bind(**given)
    except TypeError as error:
        known = ", ".join(inspect.signature(number.function).parameters)
        raise LessonError(line, f"{name} takes {known}: {error}.") from None
    try:
        value = number.function(**{key: _argument(text) for key, text in given.items()})
    except (ValueError, TypeError, DataUnavailableError) as error:
        raise LessonError(line, f"{name} cannot be computed: {error}.") from None
    return value, number.written(value)


def _argument(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def filled(text: str, line: int) -> str:
    """Running text with its numbers computed."""
    return NUMBER.sub(lambda match: compute(match.group(1), line)[1], text)


def value_of(option: str) -> float | None:
    """The first number of an option, as it is written: 0.341, 12,400, 1.3×10⁻⁵ or 10⁻⁵."""
    match = _VALUE.search(option)
    if match is None:
        return None
    if match["power"]:
        return float(10.0 ** int(match["power"][2:].translate(_DIGITS)))
    exponent = int(match["exponent"].translate(_DIGITS)) if match["exponent"] else 0
    return float(match["number"].replace(",", "").translate(_DIGITS)) * 10.0**exponent


def prediction(question: Question) -> page.Prediction:
    """A lesson's question as pages ask it, every number computed and the right option known; or a `LessonError`."""
    options = tuple(filled(option, question.line) for option in question.options)
    correct = question.correct if question.correct is not None else _chosen(question, options)
    asked, reason = filled(question.question, question.line), filled(question.reason, question.line)
    replies = tuple(filled(reply, question.line) for reply in question.replies)
    return page.Prediction("", asked, options, correct, reason, replies=replies)


def _chosen(question: Question, options: tuple[str, ...]) -> int:
    value, written = compute(question.answer, question.line)
    numbers = [value_of(option) for option in options]
    near = [place for place, number in enumerate(numbers) if number is not None and _close(number, value)]
    if len(near) != 1:
        many = "no option begins with a number near it" if not near else "more than one option is near it"
        raise LessonError(question.line, f"the computed answer is {written}, and {many}.")
    return near[0]


def _close(number: float, value: float) -> bool:
    return abs(number - value) <= NEAR * abs(value)
