"""Many powers u^a of numbers in (0, 2) at once, in loops that the compiler turns into vectors."""

from __future__ import annotations

import math

import numpy as np

from thincrm.numerics.compiled import compiled

__all__ = ["powers"]

_MANTISSA, _ONE = np.int64(0x000FFFFFFFFFFFFF), np.int64(0x3FF0000000000000)
_SHIFT, _BIAS = np.int64(52), np.int64(1023)
_ROOT, _LOG_2 = math.sqrt(2.0), math.log(2.0)
_LEAST = -1000.0  # powers of two below this are taken for it


@compiled
def powers(base_K: np.ndarray, exponent: float, out_K: np.ndarray, scratch_K: np.ndarray) -> None:
    """Fill out_K with base_K^exponent, with a relative error below 1e-11 |log2 of it|.

    log2(m 2^e) = e + 2 / log 2 artanh((m - 1) / (m + 1)), 2^(i + f) = 2^i exp(f log 2), both by
    their power series. Results below 2^-1000 come out as 2^-1000.
    """
    bits_K, out_bits_K = base_K.view(np.int64), out_K.view(np.int64)
    for k in range(base_K.size):
        scratch_K[k] = np.float64((bits_K[k] >> _SHIFT) - _BIAS)
        out_bits_K[k] = (bits_K[k] & _MANTISSA) | _ONE
    for k in range(base_K.size):
        large = 1.0 if out_K[k] > _ROOT else 0.0
        m = out_K[k] * (1.0 - 0.5 * large)
        s = (m - 1.0) / (m + 1.0)
        q = s * s
        series = 1 / 13 + q * (1 / 15)
        series = 1 / 7 + q * (1 / 9 + q * (1 / 11 + q * series))
        series = 1.0 + q * (1 / 3 + q * (1 / 5 + q * series))
        log2 = scratch_K[k] + large + 2.0 / _LOG_2 * s * series
        scratch_K[k] = max(log2 * exponent, _LEAST)
    for k in range(base_K.size):
        whole = math.floor(scratch_K[k])
        g = (scratch_K[k] - whole) * _LOG_2
        series = 1.0 + g / 9 * (1.0 + g / 10 * (1.0 + g / 11))
        series = 1.0 + g / 5 * (1.0 + g / 6 * (1.0 + g / 7 * (1.0 + g / 8 * series)))
        out_K[k] = 1.0 + g * (1.0 + g / 2 * (1.0 + g / 3 * (1.0 + g / 4 * series)))
        scratch_K[k] = whole
    for k in range(base_K.size):
        out_bits_K[k] = out_bits_K[k] + (np.int64(scratch_K[k]) << _SHIFT)
