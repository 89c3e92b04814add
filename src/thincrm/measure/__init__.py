"""Thinned completely random measures as random measures: draws, moments, correlation."""

from thincrm.measure.measure_plots import plot_correlation
from thincrm.measure.normalized import NormalizedCRM
from thincrm.measure.realisation import Realisation
from thincrm.measure.thinned import ThinnedCRM

__all__ = ["NormalizedCRM", "Realisation", "ThinnedCRM", "plot_correlation"]
