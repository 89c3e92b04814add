"""Room 2: where atoms are open."""

from thincrm.thinning.always import Always
from thincrm.thinning.bump import Bump
from thincrm.thinning.function import FunctionThinning
from thincrm.thinning.gp import SigmoidGP
from thincrm.thinning.member import register
from thincrm.thinning.rvm import ProbitRVM

__all__ = ["Always", "Bump", "FunctionThinning", "ProbitRVM", "SigmoidGP"]

for _member in (SigmoidGP, ProbitRVM, Bump, Always):
    register(_member)
