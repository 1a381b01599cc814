"""What the pictures of the page "Ask the data first" are called."""

VIEWS = {
    "line": "Twelve points on a line",
    "vote": "A vote (Figure 3)",
    "gamma": "Regression: printed against exact",
    "pate": "Many teachers vote (Figure 2)",
    "figure1": "Private regressions (Figure 1)",
    "pays": "Does it pay?",
}
