"""What is measured while a model runs: accumulators that merge in a fixed order."""

from tocsin.stats._moments import Welford
from tocsin.stats._sketch import Sketch
from tocsin.stats._student import Difference, Interval, holm, interval, paired, t_quantile, verdict

__all__ = ["Difference", "Interval", "Sketch", "Welford", "holm", "interval", "paired", "t_quantile", "verdict"]
