"""The controls of the page "Distance to optimality"."""

from ui import parameters
from ui.bounds import Setting
from ui.controls import SelectSlider, log_values, powers_of_ten

LARGE_SMALL = Setting(sigma=10.0, lam=2.0, smoothness=1.0, lipschitz=1.0)
SILENT = Setting(sigma=10.0, lam=0.2, smoothness=0.25, lipschitz=1.0)
RENYI, PROFILE = "Rényi curves", "Privacy profiles"

TWICE = "Two pictures of the same four privacy losses: Rényi divergences, as in the paper’s figure, or δ against ε."
SHOW = parameters.show("distance", (RENYI, PROFILE), TWICE)
MECHANISM = parameters.mechanism("distance", LARGE_SMALL, SILENT)
READ_DELTA = parameters.read_delta("distance", label="Compare ε at δ =")
READ_ALPHA = SelectSlider("distance_alpha", "Read ε(α) at α =", 10.0, log_values(1, 10_000, steps=parameters.FEW_STEPS))
ALPHA_MAX = parameters.view("distance", "α axis up to", 10_000.0, powers_of_ten(1, 6))
EPS_ENDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
EPS_MAX = parameters.view("distance", "ε axis up to", 2.0, EPS_ENDS, name="eps_view")
GHOST = parameters.ghost("distance")
