"""Figure 1 of the paper: features and thinning probabilities found again in synthetic data."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from thincrm.experiments.feature_settings import SyntheticSettings
from thincrm.experiments.synthetic_data import IMAGES, TIMES, Synthetic, draw_synthetic
from thincrm.models.features.model import FeatureModel
from thincrm.numerics.arrays import Float, Int
from thincrm.thinning import ProbitRVM

__all__ = ["SyntheticResults", "match_images", "run"]

FOUND = 0.95  # correlation with its image from which a feature counts as found
LARGE = 0.01  # share of all usages from which a feature that is no image is spurious
LEVEL = 0.9
_WIDTHS = (5.0, 20.0, 80.0)  # inverse squared lengths; kernels of length 3 in a range of 19 have 20


@dataclass(frozen=True, slots=True)
class SyntheticResults:
    """What the experiment found.

    Attributes
    ----------
    seeds : DataFrame
        A row per table: images found, spurious features, features in use, smallest correlation,
        mean absolute error and coverage of the curves, seconds.
    features : DataFrame
        A row per table and image: the feature that is it, their correlation, the feature's share
        of all usages, error and coverage of its curve.
    curves : DataFrame
        A row per table, image and t: the thinning probability, whether the gate was open, and the
        recovered probability with a 90 % band.
    images : (8, 64) float
        The features recovered from the first table, in the order of the images.
    """

    seeds: pd.DataFrame
    features: pd.DataFrame
    curves: pd.DataFrame
    images: Float


class _Found(NamedTuple):
    row: dict[str, Any]
    features: pd.DataFrame
    curves: pd.DataFrame
    images: Float


def run(
    settings: SyntheticSettings, report: Callable[[pd.DataFrame], None] | None = None
) -> SyntheticResults:
    """Draw tables, recover the features of each, compare.

    Parameters
    ----------
    settings : SyntheticSettings
        See there.
    report : callable or None
        Is given the rows found so far, after each table.
    """
    found: list[_Found] = []
    for seed in range(settings.seed, settings.seed + settings.seeds):
        found.append(_recover(draw_synthetic(seed, settings.n_each), settings, seed))
        if report is not None:
            report(pd.DataFrame([one.row for one in found]))
    return SyntheticResults(
        pd.DataFrame([one.row for one in found]),
        pd.concat([one.features for one in found], ignore_index=True),
        pd.concat([one.curves for one in found], ignore_index=True),
        found[0].images,
    )


def _recover(truth: Synthetic, settings: SyntheticSettings, seed: int) -> _Found:
    """Fit the model of the paper, one gate a feature and time, and compare it with the truth."""
    start = time.perf_counter()
    model = FeatureModel(
        thinning=ProbitRVM(widths=_WIDTHS, bias_mean=0.0),
        gates="row",
        weights="binary",
        background=False,
        max_features=settings.max_features,
        n_sweeps=settings.sweeps,
        random_state=seed,
    ).fit(truth.values, t=truth.t)
    seconds = time.perf_counter() - start
    image_FP = model.features_["mean"].unstack("column").to_numpy()
    feature_K, correlation_K = match_images(image_FP)
    curves = _curves(truth, model.activation(t=TIMES, level=LEVEL), feature_K)
    by_image = curves.assign(
        curve_error=(curves["mean"] - curves["truth"]).abs(),
        coverage=curves["truth"].between(curves["lower"], curves["upper"]).astype(float),
    ).groupby("image")[["curve_error", "coverage"]]
    share_F = model.shares_["mean"].to_numpy()
    features = by_image.mean().assign(
        seed=seed, feature=feature_K, correlation=correlation_K, share=share_F[feature_K]
    )
    other_F = np.delete(share_F, feature_K[correlation_K >= FOUND])
    row = {
        "seed": seed,
        "found": int((correlation_K >= FOUND).sum()),
        "spurious": int((other_F > LARGE).sum()),
        "features": float(model.n_features_.mean()),
        "correlation": float(correlation_K.min()),
        "curve_error": float(features["curve_error"].mean()),
        "coverage": float(features["coverage"].mean()),
        "seconds": seconds,
    }
    return _Found(row, features.reset_index(), curves.assign(seed=seed), image_FP[feature_K])


def match_images(image_FP: Float) -> tuple[Int, Float]:
    """Return the feature that is each image, and their correlation; the sum of these is largest.

    Where there are fewer features than images, an image is given the feature nearest to it.
    """
    n_images = len(IMAGES)
    both = np.corrcoef(np.concatenate([IMAGES.reshape(n_images, -1), image_FP]))
    correlation_KF = both[:n_images, n_images:]
    feature_K = correlation_KF.argmax(axis=1)
    image, feature = linear_sum_assignment(-correlation_KF)
    feature_K[image] = feature
    return feature_K, correlation_KF[np.arange(n_images), feature_K]


def _curves(truth: Synthetic, activation: pd.DataFrame, feature_K: Int) -> pd.DataFrame:
    """Return the true and the recovered curve of every image."""
    parts = []
    for image, feature in enumerate(feature_K):
        curve = activation.loc[activation["feature"] == feature, ["t", "mean", "lower", "upper"]]
        true = {"image": image, "truth": truth.curve_TK[:, image], "open": truth.gate_TK[:, image]}
        parts.append(curve.assign(**true))
    return pd.DataFrame(pd.concat(parts, ignore_index=True))
