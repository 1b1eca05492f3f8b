"""M/M/1 in Cimba's language; constants are written out, as its compiler asks."""

import cimba as cb


class Counted(cb.Model):
    """M/M/1 as two events and a number."""

    n_present: int = 0
    n_served: int = 0
    area: float = 0.0
    last: float = 0.0
    present: cb.Output[float]

    @cb.event
    def arrive(self) -> None:
        self.area += self.n_present * (cb.now() - self.last)
        self.last = cb.now()
        self.n_present += 1
        if self.n_present == 1:
            cb.schedule(self.serve, cb.random.exponential(1.0))
        cb.schedule(self.arrive, cb.random.exponential(1.25))

    @cb.event
    def serve(self) -> None:
        self.area += self.n_present * (cb.now() - self.last)
        self.last = cb.now()
        self.n_present -= 1
        self.n_served += 1
        if self.n_served == 1_000_000:
            cb.end_trial()
        elif self.n_present > 0:
            cb.schedule(self.serve, cb.random.exponential(1.0))

    @cb.on_start
    def begin(self) -> None:
        cb.schedule(self.arrive, cb.random.exponential(1.25))

    @cb.on_end
    def finish(self) -> None:
        self.present = self.area / cb.now()
