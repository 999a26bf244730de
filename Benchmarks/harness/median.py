"""Medians, and how sure they are."""
import math
from typing import NamedTuple

import numpy as np


class Median(NamedTuple):
    """A median with the ends of its interval of 95 %."""

    value: float
    low: float
    high: float

    def __float__(self):
        return float(self.value)

    def apart(self, other):
        """Whether the intervals have nothing in common: only then is one of the two smaller."""
        return self.high < other.low or other.high < self.low


def median(values):
    """Of independent values, of which nothing else is assumed.

    The number of values below the true median is binomial, so that two of the values in their order are the ends of an
    interval that holds it in at least 95 of 100 cases. Fewer than six values have no such ends: theirs are infinite.
    """
    ordered, count = sorted(map(float, values)), len(values)
    below, rank = 0.0, 0
    # The largest rank with at most 2.5 % of the cases below it; as many are above its opposite.
    while below + math.comb(count, rank) / 2 ** count <= 0.025:
        below += math.comb(count, rank) / 2 ** count
        rank += 1
    if rank == 0:
        return Median(float(np.median(ordered)), -math.inf, math.inf)
    return Median(float(np.median(ordered)), ordered[rank - 1], ordered[count - rank])
