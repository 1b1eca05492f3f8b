"""A walk-in clinic: patients arrive, wait in line, are seen at one of some desks, or give up.

The worked example of docs/guides/write-a-model.md. Arrivals are a Poisson process; consultations
are gamma distributed; patience is uniform.
"""

from __future__ import annotations

from tocsin import (
    NEVER,
    Action,
    Arena,
    Array,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Params,
    Pool,
    Rng,
    Simulation,
    Touched,
    World,
    boolean,
    float64,
    int64,
    param,
)


class Settings(Params):
    """Times in minutes."""

    arrival: float64 = param(0.25, unit="1/min", ge=0, doc="arrivals of patients")
    consultation: float64 = param(10.0, unit="min", gt=0, doc="mean length of a consultation")
    patience: float64 = param(40.0, unit="min", gt=0, doc="longest wait of the most patient")


class Patient(Entity):
    """Somebody in the clinic."""

    is_waiting: boolean
    arrived_at: float64
    gives_up_at: float64


class Desk(Entity):
    """A doctor at a desk."""

    patient: OptionalRef[Patient]
    done_at: float64


class Clinic(World):
    """Desks, patients, and what became of them."""

    desks: Arena[Desk]
    patients: Pool[Patient]
    waits: Array[int64]
    n_waiting: int64 = 0
    n_seen: int64 = 0
    n_lost: int64 = 0
    settings: Settings

    def free_desk(self) -> Desk | None:
        """Return the first desk without a patient."""
        for i in range(len(self.desks)):
            if self.desks[i].patient is None:
                return self.desks[i]
        return None

    def next_patient(self) -> Patient | None:
        """Return who has waited longest."""
        found = -1
        for i in range(len(self.patients)):
            patient = self.patients[i]
            is_here = self.patients.is_live(i) and patient.is_waiting
            if is_here and (found < 0 or patient.arrived_at < self.patients[found].arrived_at):
                found = i
        return None if found < 0 else self.patients[found]

    def call_in(self, now: float, rng: Rng, touched: Touched) -> None:
        """Send the patient who has waited longest to a desk, if there are both."""
        desk, patient = self.free_desk(), self.next_patient()
        if desk is None or patient is None:
            return
        desk.patient = patient
        desk.done_at = now + rng.gamma(2.0, self.settings.consultation / 2.0)
        patient.is_waiting = False
        self.n_waiting -= 1
        self.waits[min(int(now - patient.arrived_at), len(self.waits) - 1)] += 1
        touched.add(desk)
        touched.add(patient)


class Arrive(Action):
    """A patient comes in."""

    def rate(self, world: Clinic) -> float:
        return world.settings.arrival

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        patient = world.patients.spawn()
        patient.is_waiting = True
        patient.arrived_at = now
        patient.gives_up_at = now + rng.uniform(0.0, world.settings.patience)
        world.n_waiting += 1
        world.call_in(now, rng, touched)


class Leave(Action):
    """A consultation is over; the next patient is called in."""

    desk: Desk

    def schedule(self, world: Clinic, now: float, rng: Rng) -> float:
        return NEVER if self.desk.patient is None else self.desk.done_at

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        patient = self.desk.patient
        if patient is not None:
            world.patients.remove(patient)
        self.desk.patient = None
        world.n_seen += 1
        world.call_in(now, rng, touched)


class GiveUp(Action):
    """A patient has waited too long."""

    patient: Patient

    def schedule(self, world: Clinic, now: float, rng: Rng) -> float:
        return self.patient.gives_up_at if self.patient.is_waiting else NEVER

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        world.patients.remove(self.patient)
        world.n_waiting -= 1
        world.n_lost += 1


class Waiting(Observable):
    """Number of patients in the waiting room."""

    def value(self, world: Clinic) -> float:
        return world.n_waiting


class Busy(Observable):
    """Number of desks with a patient."""

    desk: Desk

    def value(self, world: Clinic) -> float:
        return self.desk.patient is not None


MODEL = Model(Clinic, [Leave, GiveUp, Arrive], observables=[Waiting, Busy], name="clinic")


def make_clinic(n_desks: int = 2, settings: Settings | None = None) -> Clinic:
    """Return an empty clinic; `waits[k]` will count the patients called in after k minutes."""
    return Clinic(desks=n_desks, patients=0, waits=[0] * 60, settings=settings or Settings())


def main() -> None:
    """A week of a clinic with two desks, then with three."""
    for n_desks in (2, 3):
        simulation = Simulation(MODEL, make_clinic(n_desks), seed=1)
        simulation.run(until=7 * 24 * 60.0)
        clinic, seen = simulation.world, simulation.observe()
        share = clinic.n_lost / (clinic.n_lost + clinic.n_seen)
        print(f"{n_desks} desks: {clinic.n_seen} seen, {share:.1%} gave up,", end=" ")
        print(f"{seen['Waiting'].mean:.2f} wait on average (at most {seen['Waiting'].high:.0f})")
        busy = ", ".join(f"{mean:.1%}" for mean in simulation.row_means("Busy"))
        print(f"  each desk is busy {busy} of the time")


if __name__ == "__main__":
    main()
