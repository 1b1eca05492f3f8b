# mypy: ignore-errors
# pyright: basic
"""PHOLD in Cimba's language. Imported only where Cimba is."""

import cimba as cb


class Phold(cb.Model):
    """n pending events; each that fires schedules another, until `most` have fired."""

    n: cb.Param[int]
    most: cb.Param[int]
    n_fired: int = 0
    total: cb.Output[float]
    time: cb.Output[float]

    @cb.event
    def ring(self) -> None:
        self.n_fired += 1
        if self.n_fired == self.most:
            cb.end_trial()
        else:
            cb.schedule(self.ring, cb.random.exponential(1.0))

    @cb.on_start
    def begin(self) -> None:
        for _ in range(self.n):
            cb.schedule(self.ring, cb.random.exponential(1.0))

    @cb.on_end
    def finish(self) -> None:
        self.total = self.n_fired
        self.time = cb.now()
