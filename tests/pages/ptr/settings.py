"""Settings of the computed pictures that several tests begin with."""

from pages.ptr import controls, editor
from pages.ptr.gamma import Gamma
from pages.ptr.line import Line
from pages.ptr.pate import Pate
from pages.ptr.vote import Vote

TWELVE = editor.parse(controls.POINTS.default)
LINE = Line("number", 0.1, 1.0, 7, 1e-5, True, 0, controls.POINTS.default)
VOTE = Vote(10, 1.0, 1.0, 1e-5)
PATE = Pate(0.8, 0.7, 20.0, 100, 0.2, 0.11)
GAMMA = Gamma(3.0, 7.0, 5.0, 1e-6)
