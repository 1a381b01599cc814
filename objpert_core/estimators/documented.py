"""Paragraphs that the estimators' docstrings share: written once here, put in place when a class is made."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TypeVar

Estimator = TypeVar("Estimator", bound=type)

PARAGRAPHS = {
    "epsilon": """
        epsilon : float, default=1.0
            ε > 0 of one fit; `adjacency` and `rows_per_person` say which data sets are neighbours.
        """,
    "delta": """
        delta : float, default=1e-5
            δ strictly between 0 and 1; choose it well below 1/n.
        """,
    "noise_ratio": """
        noise_ratio : float >= 1 or None, default=None
            σ as a multiple of the Gaussian mechanism's; more noise allows less regularisation. None takes the bound's
            `objpert_core.accounting.default_noise_ratio`, or a smaller ratio where a given λ allows one.
        """,
    "sigma_out": """
        sigma_out : float or None, default=None
            Standard deviation of the output noise; None takes one that costs next to nothing.
        """,
    "tau": """
        tau : float, default=1e-6
            Gradient norm the solver must reach. A tau that rounding might not allow for so many rows and parameters is
            refused before the fit, and the error names the smallest one that works. Where no number of rows is declared
            and the certificate would name none, the rows in X decide, and the promise does not cover that there was a
            refusal (docs/theorems.md, T23). The default works for ten million rows and 200,000 columns, unless λ is
            tiny. The output noise is proportional to tau, and tiny at the default. For more rows
            `ObjPertLogisticRegression`, `ObjPertSVC` and `ObjPertRegressor` replace the default by 1.1 times the
            smallest tau that public numbers allow, and raise λ in the same proportion unless a `lam` is given. This
            needs a number of rows that the certificate names. Other fits of so many rows are refused.
        """,
    "solver": """
        solver : {"newton", "newton-cholesky", "newton-cg", "lbfgs", "gradient-descent", "accelerated", "sag", "svrg"}
            "newton" by default; see `objpert_core.learning.solve`. The choice does not touch privacy.
        """,
    "fit_intercept": """
        fit_intercept : bool, default=True
            Whether there is an intercept, a constant appended to every row; see `intercept_scaling`.
        """,
    "intercept_scaling": """
        intercept_scaling : float, default=0.3
            The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). The rows' norm
            becomes √(1 + s²), and the noise grows by the same factor unless gradients are clipped. A large s penalises
            the intercept less.
        """,
    "advanced": """
        advanced : dict or None, default=None
            The options of "Other Parameters", by name, such as ``{"tau": 1e-8}``; ``set_params(advanced__tau=1e-8)``
            sets one, and so do grids of searches. The names are taken as parameters, too, with a `FutureWarning`.
        """,
    "steps": """
        steps : sequence of Step, default=()
            What else is released beside the fit, and paid for out of (epsilon, delta): steps of your own, which
            docs/adding.md describes.
        """,
    "target_range": """
        target_range : pair of float or None, default=None
            The possible range of the targets, (low, high), known without these `y`: means and standard deviations of
            these very `y` would reveal them outside the accounting. The middle counts as 0 in the fit and half the
            width as 1, and `predict` cuts its answers to the range. None takes targets as they are, which are then best
            of size about 1, and cuts nothing.
        """,
    "row_norm": """
        row_norm : {"normalize", "clip"}, default="normalize"
            "normalize" divides every row's features by their norm; "clip" does so only where the norm exceeds 1.
            `predict` does the same. A zero row stays zero and gets the intercept only.
        """,
    "clipped_rows": """
        row_norm : {"clip", "normalize"}, default="clip"
            "clip" shrinks rows longer than 1 to norm 1, here and in `predict`: scale the features with public constants
            so that few rows are longer. "normalize" gives every row norm 1.
        """,
    "random_state": """
        random_state : None, int, RandomState or Generator, default=None
            None takes the noise from the operating system. Anything else is for teaching and tests: the fit can be
            repeated and the certificate says ``reproducible=True``, because whoever knows the seed can subtract the
            noise. Fits with one seed on different data share their noise, and comparing them reveals the data.
        """,
    "accountant": """
        accountant : {"profile", "rdp"}, default="profile"
            Calibrate by the bound's privacy profile, or only through its Rényi curve.
        """,
    "margin": """
        margin : float >= 0, default=0.0
            The margin k of the loss log(1 + e^{k − y·score}) (`objpert_core.learning.LogisticLoss`). A margin costs no
            worst-case privacy; 0 is logistic regression itself. `objpert_core.accounting.recommended_margin` has a rule
            for k.
        """,
    "declared_rows": """
        If you give a number, the promise is that of adding or removing a row, without a proviso. None takes the number
        of rows in `X`, **treated as public**: the promise then compares only data sets that differ by a row and are
        both fitted with this one number.
        """,
    "standardize": """
        standardize : {"auto", True, False} or Standardisation, default="auto"
            Whether the features are privately centred and scaled before the fit. A noisy mean is subtracted from the
            rows, which have norm 1; columns are multiplied by weights that come from noisy mean sizes; rows are brought
            to norm 1 again. `predict` does the same. (epsilon, delta) pays for both noisy sums, and the fit gets the
            rest; the certificate covers all of it (docs/theorems.md, T45). "auto" takes the steps that
            `objpert_core.accounting.recommended_standardisation` finds worth their noise, **a rule in ε, δ, the public
            number of rows and the number of columns**. "auto" takes none where a regularisation or a `noise_ratio` is
            given, for ``row_norm="clip"``, and for bounds without a privacy loss distribution. True takes both steps,
            whatever they cost. With public `feature_ranges` "auto" and True take both steps by
            `objpert_core.accounting.standardisation_of_lengths` where there are rows enough: rows then keep their
            lengths until they are centred, and where `objpert_core.accounting.ranges_within_limits` finds rows enough,
            noisy counts find closer ranges first. An `objpert_core.accounting.Standardisation` gives the noise itself.
            Sparse rows are scaled but never centred, because centring would fill them.
        """,
    "feature_ranges": """
        feature_ranges : None, "private" or (low, high), default=None
            Raw columns of different scales need ranges: each column is cut to its range, and the range mapped to [−1,
            1], before `row_norm` and in `predict`. A pair of numbers or arrays of shape (d,) is **public**: take it
            from what is known of such features in general, never from these data; NaN as both ends of a column asks for
            a private range of that column alone. "private" finds a range of every column, from its first to its last
            hundredth, by noisy histograms, and pays for them out of (epsilon, delta) (docs/theorems.md, T47). The
            histograms' noise follows `objpert_core.accounting.recommended_ranges`, **a rule in ε, δ, the public number
            of rows and the number of such columns**. Where these numbers do not allow private ranges, none are taken,
            nothing is spent on them, and a warning says so. Public ranges of three columns or more are limits, within
            which noisy counts find closer ranges, where `standardize` leaves that to
            `objpert_core.accounting.ranges_within_limits`, **a rule in the same numbers**. Rows of one or two columns
            with ranges are clipped and not normalised, unless `standardize` asks for more: normalised rows would keep
            little more than signs. Where rows with public ranges are centred and scaled, all ranges are made √d times
            as wide, so that no row within them is shortened before it is centred. Sparse rows are refused.
        """,
    "standardize_if_told": """
        standardize : {None, False, True, "auto"} or Standardisation, default=None
            None centres and scales where some columns have public `feature_ranges`, no `noise_ratio` is given and
            `objpert_core.accounting.standardisation_of_lengths` finds rows enough, whatever `row_norm` is: rows in
            ranges then keep their lengths until they are centred. Where all columns have such ranges and
            `objpert_core.accounting.ranges_within_limits` finds rows enough, noisy counts find closer ranges within
            them instead. Elsewhere None is False. The other values mean what they mean for
            `ObjPertLogisticRegression`, and need ``row_norm="normalize"``.
        public_rows : int or None, default=None
            The number of rows by which rules choose the noise of `standardize` and of `feature_ranges`. None
            takes the number of rows in `X`, **treated as public**; without such a rule that number is not used. A
            number that you give also decides the default `tau`, and λ with it, beyond some ten million rows.
        """,
    "classes": """
        classes : array-like of two labels or None, default=None
            The labels that can occur, so that they need not be learned from the data. None takes the two labels seen in
            `y`; the set of labels is then revealed outside the accounting.
        """,
    "max_iter": """
        max_iter : int, default=1000
            Solver iterations at most, counted as `objpert_core.learning.solve` says; `ConvergenceError` if these are
            not enough.
        """,
    "on_error": """
        on_error : {"raise", "release"}, default="raise"
            "raise" is for work on your own data: an invalid row, or a solver that does not reach its gradient norm,
            stops the fit with an error, and the error tells whoever sees it something about the data. "release" leaves
            invalid rows (NaN, infinity, a norm from 1e150 on, entries that are no numbers, a target or label that is
            none of those allowed) out of every sum, and still counts them where a rule reads the number of rows. If the
            solver fails, a slower solver goes on, which is sure to arrive in exact arithmetic. If rounding stops the
            slower solver, too, the answer for no data is released. The promise covers invalid rows. It does not cover
            the fact that rounding stopped both solvers, or that `tau` was refused as too small for the rows in X
            (docs/theorems.md, T23). With "release", classifiers need `classes`.
        """,
    "on_error_of_steps": """
        on_error : {"raise", "release"}, default="raise"
            "raise" stops a fit with an error that names an invalid row, and the error tells whoever sees it something
            about the data. "release" leaves invalid rows (NaN, infinity, a norm from 1e150 on, entries that are no
            numbers, a target or label that is none of those allowed) out of every sum, and still counts them where a
            rule reads the number of rows. The promise covers invalid rows (docs/theorems.md, T23). With "release",
            classifiers need `classes`.
        """,
    "adjacency": """
        adjacency : {"add/remove one row", "replace one row"}, default="add/remove one row"
            Whether neighbouring data sets differ by one row more or less, or by one row replaced by another, which
            needs about twice the noise.
        """,
    "rows_per_person": """
        rows_per_person : int >= 1, default=1
            How many rows one person may have. (ε, δ) then covers all rows of one person together, and k rows need about
            k times the noise. A person with more rows is not covered.
        """,
    "hinge_width": """
        hinge_width : float > 0, default=0.5
            h: "huberised-hinge" is rounded over |1 − m| ≤ h.
        """,
    "radius": """
        radius : float > 0, default=1.0
            M: the model lies in the ball ‖θ‖ ≤ M. Take M from general knowledge, and never choose M by looking at fits.
            The bounds on the risk are proportional to M.
        """,
    "descent": """
        sampling : {None, "poisson", "without replacement", "with replacement", "full batch"}, default=None
            How the rows of a step are drawn. None takes "poisson" for the schedule "tight" and "with replacement" for
            "bassily2019".
        step_scale : float > 0, default=1.0
            How far all steps of "tight" go together, in units of the distance at which the bound on the risk is least.
            4 was better on generated logistic data.
        """,
    "ball_lam": """
        lam : float >= 0 or None, default=None
            A lower limit on the regularisation λ of "tight". None takes a rule: for the logistic loss max(2R²/ε,
            4σ²d/n), or more where that is too little, with **the number n of rows treated as public**
            (`objpert_core.accounting.population.ball.recommended_ball_lam`), and 2√d·σ/M for other losses. 0 takes the
            smallest λ that privacy allows; a loss with corners has no smallest λ, because it is smoothed until its
            curvature is ελ/24.
        """,
    "ball_public_rows": """
        public_rows : int or None, default=None
            The number of rows by which λ is chosen, where a rule uses it. None takes the number of rows in `X`,
            **treated as public**. Replacing a row does not change this number.
        """,
    "public_rows_of_batches": """
        public_rows : int or None, default=None
            The number of rows by which steps and noise are chosen; for batches of a fixed size it must be the number of
            rows in `X`. None takes the number of rows in `X`, **treated as public**. Replacing a row does not change
            this number.
        """,
    "quantile": """
        quantile : float, default=0.5
            The quantile that "pinball" finds, strictly between 0 and 1.
        """,
    "residual_losses": """
        insensitive_width : float >= 0, default=0.1
            Residuals up to this width cost nothing under "epsilon-insensitive".
        huber_threshold : float > 0, default=1.0
            Residual beyond which "huber" is straight.
        """,
    "strict": """
        strict : bool, default=True
            Refuse ε > 1 and δ > 1/n² for "bassily2019", for which the paper claims nothing. False is for comparisons.
        """,
    "ball_intercept_scaling": """
        intercept_scaling : float, default=0.3
            The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). The rows' norm
            becomes √(1 + s²), and the noise grows by the same factor. The ball also holds the intercept divided by s.
        """,
    "adjacency_in_ball": """
        adjacency : {"replace one row", "add/remove one row"}, default="replace one row"
            Whether neighbouring data sets differ by one row replaced by another, as in the papers, or by one row more
            or less. "bassily2019" is about replaced rows, and one row of a person, only.
        """,
    "adjacency_of_batches": """
        adjacency : {"replace one row", "add/remove one row"}, default="replace one row"
            Whether neighbouring data sets differ by one row replaced by another, as in the papers, or by one row more
            or less, for rows that join a step by their own coins ("poisson", "full batch"). "bassily2019" is about
            replaced rows, and one row of a person, only.
        """,
    "fitted_descent": """
        privacy_ : NoisySGDCertificate
            What was promised and how. `release` gives a copy of the model that may be published, with its public part.
        n_iter_ : int
            The number of steps; public.
        """,
    "fitted_map": """
        center_ : ndarray, shape (n_features_in_,), or None
            The private centre that is subtracted from rows of norm 1. None where rows are not centred.
        scale_ : ndarray, shape (n_features_in_,), or None
            The private weights that columns are multiplied by. None where columns are not scaled. `coef_` applies to
            the products, brought to norm 1.
        feature_ranges_ : ndarray, shape (2, n_features_in_), or None
            The lower and the upper ends of the columns' ranges, private or as given, or √d times as wide where rows
            keep their lengths. None where columns are not cut to ranges.
        """,
    "fitted_regressor": """
        coef_ : ndarray, shape (n_features_in_,)
            Private, in units of y. Applies to rows after `row_norm`, not to raw ones.
        intercept_ : float
            Private; without an intercept it is the middle of the targets' range, or 0.
        target_range_ : ndarray, shape (2,), or None
            The public range of the targets, to which `predict` cuts its answers; None where none is known.
        """,
    "fitted_classifier": """
        coef_ : ndarray, shape (1, n_features_in_)
            Private. Applies to rows after `row_norm`, not to raw ones.
        intercept_ : ndarray, shape (1,)
            Private; 0.0 without an intercept.
        classes_ : ndarray, shape (2,)
            Sorted labels; the second is the positive one.
        """,
    "fitted_margin": """
        margin_ : float
            The margin k.
        """,
    "fitted_features": """
        n_features_in_ : int
        feature_names_in_ : ndarray of str
            Where `X` had string column names.
        """,
    "fitted_certificate": """
        privacy_ : ObjectivePerturbationCertificate
            What was promised and how. `release` gives a copy of the model that may be published, with its public part.
        """,
    "fitted_trace": """
        n_iter_ : int
            Depends on the data, outside the guarantee: do not publish.
        gradient_norms_ : ndarray, shape (n_iter_ + 1,)
            The solver's trace. Depends on the data, outside the guarantee: do not publish.
        """,
    "target_bound": """
        target_range : pair of float or None, default=None
            The possible range of the targets, (low, high), known without these `y`; None takes (−1, 1). Targets are cut
            to the range, its middle counts as 0, and the noise grows with its width. `predict` cuts its answers to it.
        """,
    "fit_intercept_or_not": """
        fit_intercept : bool, default=False
            Whether every row gets a constant `intercept_scaling`, whose coefficient is the intercept.
        """,
    "squared_intercept_scaling": """
        intercept_scaling : float, default=0.3
            The constant s > 0 appended to every row when an intercept is fitted (scikit-learn's name). A row's squared
            norm becomes 1 + s², and noise grows with it.
        """,
    "on_error_by_row": """
        on_error : {"raise", "release"}, default="raise"
            "raise" stops a fit with an error that names an invalid row, and the error tells whoever sees it something
            about the data. "release" leaves invalid rows (NaN, infinity, a norm from 1e150 on, entries or targets that
            are no numbers) out of every sum; the promise covers invalid rows (docs/theorems.md, T23).
        """,
    "accounting_of_samples": """
        accounting : {"tight", "split", "published"}, default="tight"
            "tight" accounts for the statistics and the draw as a whole (docs/theorems.md, T39), and raises λ where a
            smaller λ would leave no γ. "split" gives each part its own share of (ε, δ), and refuses a release where no
            γ keeps the draw within its share: `ReleaseRefusedError` carries the certificate. "published" is as printed,
            which is **not private enough**: a warning says so, and the certificate does not verify.
        """,
    "fitted_bounded": """
        coef_ : ndarray, shape (n_features_in_,)
            Private. Applies to rows after `row_norm`, not to raw ones.
        intercept_ : float
            Private; the middle of `target_range` without an intercept.
        target_range_ : ndarray, shape (2,)
            `target_range`, to which `predict` cuts its answers.
        n_iter_ : int
            1: nothing iterates.
        """,
    "table_columns": """
        columns : mapping or None, default=None
            What is public of the table's columns, by name, or by number for arrays: ``Categories([...])``, or
            ``Number(low, high)``, which may have ``pieces=[...]``, the ends of its pieces. Columns that are not named
            have to hold numbers, and their range is found privately. What is declared must not come from the table.
        missing_words : sequence of str, default=()
            Words for a missing value, in capitals or not, beside NaN and None. A missing value is a piece of its own.
        pieces : float or None, default=None
            About how many pieces a column of numbers gets where they are not declared, from 3 to 256. None takes
            `objpert_core.accounting.pieces_of_a_column`, a rule in ε, δ, and the numbers of rows and columns.
        """,
    "public_rows_of_tables": """
        public_rows : int or None, default=None
            The number of rows by which rules choose the noise of the counts, the pieces, λ and tau. If you give a
            number, the promise is that of adding or removing a row, without a proviso. None takes the number of rows in
            `X`, **treated as public**: the promise then compares only data sets that differ by a row and are both
            fitted with this one number.
        """,
    "fitted_pieces": """
        shapes_ : DataFrame
            What the model does, a row for each piece of each column: `column`, `piece` in words, where it begins and
            ends (`from`, `to`), its `effect` on the score, and its noisy `share` of the rows. Effects
            of a column have mean 0 by these shares. For more than two classes there is an effect for each `class`. A
            score is log-odds where the margin is 0, which ``advanced={"margin": 0.0}`` asks for.
        pieces_ : ndarray, shape (P, 3)
            The released pieces: the number of the column, where the piece begins, and its noisy share of the rows. The
            last piece of a column is that of missing values.
        columns_ : KnownTable
            What is public of the columns.
        """,
    "class_weight": """
        class_weight : None, "balanced" or dict, default=None
            The weight of each label: a row's loss is multiplied by the weight of its label. A dict is public. Labels
            that the dict does not name weigh 1, and all weights are divided by the largest, because weights up to 1
            cost no privacy (docs/theorems.md, T48). "balanced" counts the classes with noise, and gives every class the
            same total weight. The promise pays for the counts, and the fit gets what they leave.
        """,
    "fitted_class_weight": """
        class_weight_ : dict
            The weight of each label, the largest 1. With "balanced" the weights are private, and may be published.
        """,
    "example_rows": """
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-0.5, 0.5, size=(20_000, 3))
        >>> y = X @ np.array([0.8, 0.0, -0.4]) + 0.1 * rng.normal(size=20_000)
        """,
    "own_weights": """
        `fit(X, y, sample_weight=…)` takes weights from 0 to 1, each a function of its own row alone, at no cost
        (docs/theorems.md, T48). Searching over parameters fits many models; each spends its own budget, and a
        `PrivacyBudgetWarning` says so.
        """,
    "weights": """
        `fit` takes no sample weights. `ObjPertLogisticRegression`, `ObjPertSVC` and `ObjPertRegressor` take weights up
        to 1. Searching over parameters fits many models; each spends its own budget, and a `PrivacyBudgetWarning` says
        so.
        """,
}


def documented(cls: Estimator) -> Estimator:
    """A class decorator: a docstring's line ``%(one other)s`` becomes the paragraphs ``one`` and ``other``."""

    def paragraphs(match: re.Match[str]) -> str:
        text = "\n".join(inspect.cleandoc(PARAGRAPHS[name]) for name in match["names"].split())
        return textwrap.indent(text, match["indent"])

    if cls.__doc__ is not None:  # python -OO
        cls.__doc__ = re.sub(r"^(?P<indent> *)%\((?P<names>[\w ]+)\)s$", paragraphs, cls.__doc__, flags=re.MULTILINE)
    return cls
