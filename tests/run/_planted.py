"""Models with planted bugs: each `bug` is one `touched.add` that is left out. 0 is the model as it should be."""

from __future__ import annotations

import numpy as np

from tocsin import (
    NEVER,
    Action,
    Arena,
    Entity,
    Model,
    Observable,
    OptionalRef,
    Pool,
    Rng,
    Touched,
    World,
    boolean,
    float64,
    int64,
)
from tocsin.models import extrusion
from tocsin.models.classic import sir_network as sir
from tocsin.models.extrusion import model as rules

# --- a clinic: rows that come and go, references to them, deadlines -------------------------------


class Patient(Entity):
    """Waits until a deadline, or is seated."""

    gives_up_at: float64
    weight: float64
    is_seated: boolean
    n_calls: int64


class Desk(Entity):
    """Has a patient until a deadline."""

    patient: OptionalRef[Patient]
    done_at: float64


class Friend(Entity):
    """Calls a patient as long as there is one."""

    patient: OptionalRef[Patient]


class Clinic(World):
    """Desks, patients and their friends."""

    patients: Pool[Patient]
    desks: Arena[Desk]
    friends: Arena[Friend]
    n_waiting: int64
    bug: int64

    def seat(self, desk: Desk, patient: Patient, now: float, rng: Rng, touched: Touched) -> None:
        """Give a desk a patient."""
        desk.patient = patient
        desk.done_at = now + rng.exponential(1.0)
        if self.bug != 1:
            touched.add(desk)
        patient.is_seated = True
        if self.bug != 2:
            touched.add(patient)
        self.n_waiting -= 1

    def send_away(self, patient: Patient, touched: Touched) -> None:
        """Remove a patient and tell the friends."""
        for friend in self.friends:
            if friend.patient == patient and self.bug != 4:
                touched.add(friend)
        self.patients.remove(patient)


class Arrive(Action):
    """A patient comes, and someone is the friend."""

    def rate(self, world: Clinic) -> float:
        return 0.5 * (10 - world.n_waiting)

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        patient = world.patients.spawn()
        patient.gives_up_at = now + 2.0 + rng.exponential(0.5)
        patient.weight = 1.0
        world.n_waiting += 1
        friend = world.friends[rng.integers(0, len(world.friends))]
        friend.patient = patient
        touched.add(friend)
        for desk in world.desks:
            if desk.patient is None and not patient.is_seated:
                world.seat(desk, patient, now, rng, touched)


class Leave(Action):
    """A patient is done; the next one is seated."""

    desk: Desk

    def schedule(self, world: Clinic, now: float, rng: Rng) -> float:
        return self.desk.done_at if self.desk.patient is not None else NEVER

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        patient = self.desk.patient
        if patient is not None:
            world.send_away(patient, touched)
        touched.add(world)
        for other in world.patients:
            if not other.is_seated and self.desk.patient is None:
                world.seat(self.desk, other, now, rng, touched)


class GiveUp(Action):
    """A patient has waited too long."""

    patient: Patient

    def schedule(self, world: Clinic, now: float, rng: Rng) -> float:
        return NEVER if self.patient.is_seated else max(now, self.patient.gives_up_at)

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        world.n_waiting -= 1
        if world.bug != 3:
            touched.add(world)
        world.send_away(self.patient, touched)


class Call(Action):
    """A friend calls."""

    friend: Friend

    def rate(self, world: Clinic) -> float:
        patient = self.friend.patient
        return 0.0 if patient is None else patient.weight

    def fire(self, world: Clinic, now: float, rng: Rng, touched: Touched) -> None:
        patient = self.friend.patient
        if patient is not None:
            patient.n_calls += 1
            if world.bug != 5:
                touched.add(patient)


class Calls(Observable):
    """Calls to those who are there."""

    patient: Patient

    def value(self, world: Clinic) -> float:
        return self.patient.n_calls


class Steady(Arrive):
    """A patient comes, at a rate that never changes."""

    def rate(self, world: Clinic) -> float:
        return 2.0


CLINIC = Model(Clinic, [Leave, GiveUp, Call, Arrive], observables=[Calls], name="clinic")


STEADY = Model(Clinic, [Leave, GiveUp, Call, Steady], name="steady")
"""The clock with the constant rate stands behind those of a pool that grows."""


def clinic(bug: int = 0) -> Clinic:
    """Return a clinic with two desks and five friends."""
    return Clinic(desks=2, friends=5, bug=bug)


# --- an epidemic ----------------------------------------------------------------------------------


class Town(sir.Town):
    """The town of the shipped model."""

    bug: int64


class Catch(sir.Catch):
    """A person is infected."""

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = sir.INFECTED
        if world.bug != 1:
            touched.add(self.person)
        for k in range(world.first[self.person.index], world.first[self.person.index + 1]):
            neighbour = world.people[world.neighbours[k]]
            neighbour.n_infected_neighbours += 1
            if world.bug != 2:
                touched.add(neighbour)


class Recover(sir.Recover):
    """A person recovers."""

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.person.state = sir.RECOVERED
        touched.add(self.person)
        for k in range(world.first[self.person.index], world.first[self.person.index + 1]):
            neighbour = world.people[world.neighbours[k]]
            neighbour.n_infected_neighbours -= 1
            if world.bug != 3:
                touched.add(neighbour)


EPIDEMIC = Model(Town, [Catch, Recover], name="epidemic")


def town(bug: int = 0) -> Town:
    """Return a ring of 30 people, each of whom meets the next two on each side; three are ill."""
    person = np.arange(30)
    contacts = np.concatenate([np.stack([person, (person + k) % 30], axis=1) for k in (1, 2)])
    made = sir.make_world(30, contacts, [0, 10, 20], sir.Rates(transmission=2.0))
    parts = {"people": made.people, "first": made.first.values, "neighbours": made.neighbours.values}
    return Town(**parts, rates=made.rates.to_dict(), bug=bug)


# --- loop extrusion -------------------------------------------------------------------------------


class Fibre(rules.Fibre):
    """The fibre of the shipped model."""

    bug: int64


class Step(rules.Step):
    """A leg moves one site ahead, as in the shipped model."""

    def fire(self, world: Fibre, now: float, rng: Rng, touched: Touched) -> None:
        leg, stay = self.leg, self.leg.partner
        old, new = leg.site, leg.site + leg.facing
        shared = stay.site == old
        world.sites[old].leg = stay if shared else None
        world.sites[new].leg = leg
        leg.site = new
        touched.add(leg)
        touched.add(world.sites[old])
        if world.bug != 3:
            touched.add(world.sites[new])
        ctcf = world.sites[new].ctcf
        if ctcf is not None and ctcf.captures_from != leg.facing and rng.bernoulli(ctcf.strength):
            leg.captured = True
            touched.add(stay)
            if world.bug != 2:
                touched.add(leg.lef)
        elif world.is_blocked(leg):
            touched.add(leg.lef)
        if not shared and world.bug != 1:
            rules.disturb(world, world.leg_at(old - leg.facing, leg.facing), touched)
        rules.disturb(world, world.leg_at(new + leg.facing, -leg.facing), touched)


EXTRUSION = Model(
    Fibre, [Step, rules.Evict, rules.Respawn], observables=[rules.Blocked, rules.Occupancy], tie="entity", name="fibre"
)


def fibre(bug: int = 0) -> Fibre:
    """Return a crowded lattice of 40 sites with 5 LEFs and 3 CTCFs."""
    made = extrusion.make_fibre(
        40, 5, ctcf_sites=[8, 20, 31], captures_from=[1, -1, 1], strength=[0.9, 0.5, 0.9],
        rates={"respawn": 0.02, "respawn_captured": 0.05, "respawn_blocked": 0.07}, seed=2,
    )  # fmt: skip
    parts = {name: getattr(made, name) for name in ("sites", "ctcfs", "legs", "lefs")}
    return Fibre(**parts, rates=made.rates.to_dict(), bug=bug)
