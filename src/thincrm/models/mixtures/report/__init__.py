"""The report of a mixture: clusters through the covariate, densities, the partition."""

from thincrm.models.mixtures.report.page import mixture_page

__all__ = ["mixture_page"]
