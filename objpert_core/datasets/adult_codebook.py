"""The published codebook of the Adult data set: every column, every category, every fixed maximum.

Source: `adult.names`, distributed with the data set (B. Becker and R. Kohavi, 1996, doi 10.24432/C5XW20). Workclass
"Never-worked" does not occur but keeps its column: dropping it would be a decision made by looking at the data.
"""

from __future__ import annotations

CATEGORIES: dict[str, tuple[str, ...]] = {
    "workclass": (
        "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
        "Never-worked",
    ),
    "education": (
        "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th",
        "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool",
    ),
    "marital-status": (
        "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
        "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving",
        "Priv-house-serv", "Protective-serv", "Armed-Forces",
    ),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "sex": ("Female", "Male"),
    "native-country": (
        "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany",
        "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras",
        "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France",
        "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala",
        "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong",
        "Holand-Netherlands",
    ),
}  # fmt: skip
"""The eight categorical columns and their 8 + 16 + 7 + 14 + 6 + 5 + 2 + 41 = 99 categories."""

MAXIMA: dict[str, int] = {
    "age": 90,  # the survey's top code
    "fnlwgt": 1_500_000,  # a round number above every final weight the survey gives
    "education-num": 16,  # number of education levels
    "capital-gain": 99_999,  # the survey's top code
    "capital-loss": 4_356,  # the largest loss the survey reports
    "hours-per-week": 99,  # the survey's top code
}
"""The six numeric columns and the fixed value each is divided by; a larger value counts as this one."""

COLUMNS: tuple[str, ...] = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
)  # fmt: skip
"""The columns of the raw files in their order; the label follows as a fifteenth field."""

CLASSES: tuple[str, str] = ("<=50K", ">50K")

MISSING = "?"

EDUCATION_LEVEL: dict[str, int] = {
    "Preschool": 1, "1st-4th": 2, "5th-6th": 3, "7th-8th": 4, "9th": 5, "10th": 6, "11th": 7, "12th": 8,
    "HS-grad": 9, "Some-college": 10, "Assoc-voc": 11, "Assoc-acdm": 12, "Bachelors": 13, "Masters": 14,
    "Prof-school": 15, "Doctorate": 16,
}  # fmt: skip
"""`education-num` is the survey's code of `education`: the rank of the level, not a second measurement."""

PUBLISHED_ROWS = 45_222
"""Rows without a missing value, as published in `adult.names` (30,162 + 15,060)."""

FEATURE_NAMES: tuple[str, ...] = (
    *(f"{column}={value}" for column, values in CATEGORIES.items() for value in values),
    *MAXIMA,
)
"""Names of the 99 + 6 = 105 encoded columns."""
