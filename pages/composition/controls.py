"""The controls of the page "Several releases": those of the fits, and those of the list."""

from objpert_core.accounting.ledger import MOST_ENTRIES
from pages.composition.editor import LedgerText
from ui import figures, parameters
from ui.controls import ROUND_STEPS, Choice, Control, Number, SelectSlider, Several, Toggle, log_values

# Colour and marker of the curves for the first, second, … number of fits; none differs by colour alone
LOOKS = (
    (figures.BLUE, "square"),
    (figures.TEAL, "circle"),
    (figures.GREEN, "diamond"),
    (figures.OLIVE, "triangle-up"),
    (figures.BROWN, "x"),
)
PAIRED = "-pair"  # ends the name of a bound that is composed through its symmetric pair
BOUNDS = {
    "2023 theorem": "glm",
    "2023 theorem, symmetric pair": "glm-pair",
    "our theorem": "logistic",
    "our theorem, symmetric pair": "logistic-pair",
}
CURVES, WIDTHS = "δ against ε", "width of the validated band"

# Figure 3 of the paper; the text does not name its k
TILT = "Standard deviation of each coordinate of the random tilt b, in every fit."
SIGMA = parameters.sigma("composition", 8.0, extra=[8.0], help=TILT)
LAM = parameters.lam("composition", 10.0, help=None)
CURVATURE = "Largest curvature of one person’s loss. Only the 2023 theorem uses this slider."
BETA = parameters.smoothness("composition", 1.0, help=CURVATURE)
LIPSCHITZ = parameters.lipschitz("composition", 1.0, help=None)
WERE = ("Theorem 3.1", "Theorem 3.1, symmetric pair", "tight, logistic loss", "tight, symmetric pair")
FORMER = dict(zip(WERE, BOUNDS, strict=True))  # what older links call a proof
BOUND = Choice("composition_bound", "Proof for each fit", "2023 theorem", tuple(BOUNDS), former=FORMER)
COUNTS = Several(
    "composition_k",
    "Numbers of fits k",
    (1, 2, 5, 10),
    options=(1, 2, 3, 4, 5, 7, 10, 12, 15, 20, 30, 50, 70, 100, 200, 365, 500, 1000),
    format=str,
    most=len(LOOKS),
)
READ_DELTA = parameters.read_delta("composition")
LARGE = log_values(100, 1e7, steps=(1, 2, 5))  # a thousand fits with very little noise cost ε = 5,000,000
ENDS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, *LARGE)
EPS_MAX = parameters.view("composition", "ε axis up to", 5.0, ENDS)
FLOOR = parameters.floor("composition", (1e-50, 1e-20, 1e-15, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4))
SHOW = Choice("composition_show", "Show", CURVES, (CURVES, WIDTHS))
WIDTH = SelectSlider(
    "composition_width",
    "Wanted width of the band, share of ε",
    1e-3,
    (2e-4, 1e-3, 5e-3, 0.02, 0.1),
    help="Sets how fine the grid of the convolution is. At 0.1 you can see the band.",
)
RENYI = Toggle("composition_renyi", "Rényi curves", True)
GHOST = parameters.ghost("composition")

LEDGER = LedgerText(
    "composition_ledger", "The list as text", "fit*3:8,10,1@Models;dpsgd:1,0.01,1000;gauss:20,1@Histogram"
)
LEDGER_DELTA = parameters.delta("composition", name="list_delta", label="δ for the whole list")
TARGET = SelectSlider("composition_target", "Target ε", 3.0, log_values(0.1, 50, steps=ROUND_STEPS))
LEFT = Toggle(
    "composition_left",
    "Say what still fits",
    False,
    help="How many more of each entry would keep the composed total within the target.",
)
FILTER = Toggle(
    "composition_filter",
    "Privacy filter: choose the noise as you go",
    False,
    help="A budget in μ lets releases through one by one. For Gaussian noise, μ is the sensitivity (how far one row "
    "can move the result) over σ. You fix the budget beforehand, but not the noise.",
)
RELEASED = Number(
    "composition_released",
    "Entries that are released already",
    1,
    low=0,
    high=MOST_ENTRIES,
    help="The other entries are planned.",
)
FIELDS: dict[str, Control] = {
    "counts": COUNTS,
    "sigma": SIGMA,
    "proof": BOUND,
    "lam": LAM,
    "delta": READ_DELTA,
    "smoothness": BETA,
    "lipschitz": LIPSCHITZ,
    "show_as": SHOW,
    "renyi": RENYI,
    "eps_max": EPS_MAX,
    "floor": FLOOR,
    "width": WIDTH,
}
ASIDE = (BETA, LIPSCHITZ, SHOW, RENYI, EPS_MAX, FLOOR, WIDTH)
FITS = (SIGMA, LAM, BETA, LIPSCHITZ, BOUND, COUNTS, READ_DELTA, SHOW, RENYI, EPS_MAX, FLOOR, WIDTH)
LIST = (LEDGER, LEDGER_DELTA, TARGET, LEFT, FILTER, RELEASED)
LINKED: tuple[Control, ...] = (*FITS, GHOST, *LIST)
