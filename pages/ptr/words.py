"""What the pictures of the page "Ask the data first" are called."""

VIEWS = {
    "line": "Twelve points on a line",
    "vote": "A vote",
    "figure3": "Votes and their ε (Figure 3)",
    "gamma": "Regression: printed against exact",
    "figure1": "Private regressions (Figure 1)",
    "pate": "Many teachers vote",
    "figure2": "What their labels cost (Figure 2)",
    "pays": "Does it pay?",
}
