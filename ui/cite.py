"""What to cite, as BibTeX: the paper that a page is about, and the app itself. CITATION.cff says the same.

cite.bibtex("quadratic")        # the paper of that page, then the app
"""

from collections.abc import Mapping

import objpert_core

_OBJECTIVE = """@inproceedings{redberg2023improving,
  title = {Improving the Privacy and Practicality of Objective Perturbation for Differentially Private Linear Learners},
  author = {Redberg, Rachel and Koskela, Antti and Wang, Yu-Xiang},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {36},
  pages = {13819--13853},
  year = {2023},
  url = {https://arxiv.org/abs/2401.00583}
}"""
_POPULATION = """@inproceedings{bassily2019private,
  title = {Private Stochastic Convex Optimization with Optimal Rates},
  author = {Bassily, Raef and Feldman, Vitaly and Talwar, Kunal and Thakurta, Abhradeep},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {32},
  year = {2019},
  url = {https://arxiv.org/abs/1908.09970}
}"""
_QUADRATIC = """@article{cortild2026quadratic,
  title = {Quadratic Objective Perturbation: Curvature-Based Differential Privacy},
  author = {Cortild, Daniel and Cartis, Coralia},
  journal = {arXiv preprint arXiv:2605.05905},
  year = {2026},
  url = {https://arxiv.org/abs/2605.05905}
}"""
_ASK_FIRST = """@inproceedings{redberg2023generalized,
  title = {Generalized {PTR}: User-Friendly Recipes for Data-Adaptive Algorithms with Differential Privacy},
  author = {Redberg, Rachel and Zhu, Yuqing and Wang, Yu-Xiang},
  booktitle = {International Conference on Artificial Intelligence and Statistics},
  year = {2023},
  url = {https://arxiv.org/abs/2301.00301}
}"""
_APP = """@software{{objpert,
  title = {{objpert: private linear learners, explained and computed}},
  author = {{{{The objpert developers}}}},
  version = {{{version}}}
}}"""

PAPERS: Mapping[str, str] = {"population": _POPULATION, "quadratic": _QUADRATIC, "ptr": _ASK_FIRST}
"""The paper of a page, for pages that are not about the one of 2023 on objective perturbation."""


CITED = {"bounds", "renyi", "distance", "training", "accuracy", "composition", *PAPERS}
"""The pages whose presets are a paper's figures and tables."""


def bibtex(page: str = "") -> str:
    """The entries for the paper that a page is about and for the app, in this order."""
    return f"{PAPERS.get(page, _OBJECTIVE)}\n\n{_APP.format(version=objpert_core.__version__)}\n"
