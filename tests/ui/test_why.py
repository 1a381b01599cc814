"""Why ε moved: the sentence agrees with the accountant about what moved, which way, and what decided."""

import pytest

from ui.bounds import Setting, epsilon_at
from ui.sentences import epsilon
from ui.why import moved, reread

HOME = Setting(2.5, 1.0, 0.25, 1.0)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (HOME, ""),
        (Setting(2.5, 10, 0.25, 1), "λ 1 → 10: ε stays at 1.56; the noise alone decides here, not λ."),
        (Setting(2.501, 1, 0.25, 1), "σ 2.5 → 2.501: ε stays at 1.56; a change this small does not show."),
        (Setting(2.5, 1, 2.7, 1), "β 0.25 → 2.7: ε stays at 1.56; our theorem uses the logistic loss’s own β; "),
        (Setting(10, 1, 0.25, 1), "σ 2.5 → 10: ε falls from 1.56 to 0.423; a wider tilt hides"),
        (Setting(0.5, 1, 0.25, 1), "σ 2.5 → 0.5: ε rises from 1.56 to 10; a narrower tilt"),
        (Setting(2.5, 0.1, 0.25, 1), "λ 1 → 0.1: ε rises from 1.56 to 2.19; with less regularisation"),
        (Setting(2.5, 1, 0.25, 2), "L 1 → 2: ε rises from 1.56 to"),
        (Setting(5, 20, 0.25, 2), "σ 2.5 → 5, λ 1 → 20, L 1 → 2: ε stays at 1.56; the noise alone, L/σ, decides."),
        (Setting(5, 0.1, 0.25, 1), "σ 2.5 → 5, λ 1 → 0.1: ε rises from 1.56 to 1.65; the curvature counts as well"),
    ],
)
def test_what_moved_and_why(now, said):
    sentence = moved(HOME, now, 1e-5)
    assert sentence.startswith(said)
    assert bool(sentence) == bool(said)
    if " to " in sentence:
        assert f"to {epsilon(epsilon_at('logistic', now, 1e-5))}" in sentence


def test_at_first_there_is_nothing_to_explain():
    assert moved(None, HOME, 1e-5) == ""


@pytest.mark.parametrize("now", [Setting(200, 1000, 0.25, 1), Setting(100, 2000, 0.25, 1)])
def test_where_the_slack_covers_everything_no_change_shows(now):
    assert moved(Setting(100, 1000, 0.25, 1), now, 0.5).endswith("ε stays at 0; the slack δ alone covers the release.")


def test_another_slack_is_the_same_proof():
    assert reread(HOME, 1e-5, 1e-7).startswith("δ 10⁻⁵ → 10⁻⁷: ε rises from 1.56 to 1.96; the proof is the same")
