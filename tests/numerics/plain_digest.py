"""Print a digest of every compiled loop's output: run with and without NUMBA_DISABLE_JIT=1."""

import copy
import hashlib

import numpy as np

from thincrm.numerics import cholesky, streams, variates


def digest(numbers):
    return hashlib.sha256(np.asarray(numbers).tobytes()).hexdigest()


def filled(loop, size, dtype, *arguments):
    def one(state):
        out = np.empty(size, dtype)
        loop(state, *copy.deepcopy(arguments), out)
        return out

    return one


def scalar(variate, *arguments):
    return lambda state: variate(state, *arguments)


Q = np.diag([3.0, 1.0, 2.0, 5.0]) + 0.3
SCALARS = {
    "uniform": [()],
    "normal": [()],
    "log_gamma": [(1e-6,), (0.3,), (2.5,), (1e6,)],
    "gamma": [(0.3,), (4.0,)],
    "beta_logs": [(0.1, 2.0), (1e-3, 1e-3)],
    "positive_normal": [(-40.0,), (-0.5,), (0.0,), (8.0,)],
    "binomial": [(9, 0.2), (9, 0.7), (1000, 0.3), (10**7, 0.999), (10**7, 1e-30)],
    "poisson": [(0.3,), (9.0,), (1e4,)],
    "crt": [(30, 0.7)],
    "crt_sum": [(np.array([5, 5, 3, 1]), 0.7)],
}
CASES = {
    f"{name}{arguments}": scalar(getattr(variates, name, None) or streams.uniform, *arguments)
    for name, lists in SCALARS.items()
    for arguments in lists
}
CASES["log_dirichlet"] = filled(variates.log_dirichlet, 9, float, np.linspace(0.01, 3, 9))
CASES["multinomial"] = filled(variates.multinomial, 9, np.int64, 50, np.linspace(0.01, 3, 9))
CASES["gaussian_from_precision"] = filled(
    variates.gaussian_from_precision, 4, float, Q, np.arange(4.0)
)


def main():
    with np.errstate(over="ignore"):  # plain NumPy warns where 64-bit words wrap around
        key = np.uint64(20130421)
        print("fold_key", digest([np.uint64(streams.fold_key(key, n)) for n in range(50)]))
        print("streams", digest([streams.new_stream(key, n) for n in range(50)]))
        for item, (name, one) in enumerate(CASES.items()):
            state = streams.new_stream(key, item)
            print(name, digest([one(state) for _ in range(150)]))
        factored = Q.copy()
        cholesky.factor(factored)
        print("factor", digest(factored))
        print("log_det_factor", digest(cholesky.log_det_factor(factored)))


if __name__ == "__main__":
    main()
