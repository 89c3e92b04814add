import pytest


@pytest.fixture(params=[40_000, pytest.param(1_000_000, marks=pytest.mark.joint)])
def size(request):
    """How many draws: enough to see 1 % in a distribution function, or 0.3 %."""
    return request.param
