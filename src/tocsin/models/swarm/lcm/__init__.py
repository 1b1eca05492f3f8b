"""The LCM simulator's own rules, event for event, to check one program against the other.

Source: D. Pattanayak, LCMmodel (MIT), Python at commit e68bb8f, and its port's sequential
scheduler. Its quirks are kept here and nowhere else: starts that are correlated with wake-up times,
circles that are too small by rounding, robots that stop because those they see have stopped.
"""

from tocsin.models.swarm.lcm.config import lcm_setup, lcm_simulation
from tocsin.models.swarm.lcm.events import LCM_MODEL

__all__ = ["LCM_MODEL", "lcm_setup", "lcm_simulation"]
