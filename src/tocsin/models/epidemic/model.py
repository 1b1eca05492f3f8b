"""What happens in a town: people are infected, pass through their illness, and are vaccinated.

Kermack and McKendrick 1927, doi:10.1098/rspa.1927.0118; on networks: Kiss, Miller and Simon 2017,
doi:10.1007/978-3-319-50806-1. Two models of one law: in `MODEL` people have the clocks, in
`BY_CONTACT` each contact of an infectious person has one.
"""

from __future__ import annotations

from tocsin import NEVER, Action, Model, Observable, Rng, Touched
from tocsin.models.epidemic.world import (
    EXPOSED,
    INFECTIOUS,
    RECOVERED,
    SUSCEPTIBLE,
    VACCINATED,
    Campaign,
    Contact,
    ContactTown,
    Course,
    Person,
    Town,
    first_after,
)


class Catch(Action):
    """A susceptible person is infected by a neighbour."""

    person: Person

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        return self.person.caught_at

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        world.infect(self.person, now, rng, touched)


class Progress(Action):
    """A person's state ends: he becomes infectious, recovers, or is susceptible again."""

    course: Course

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        return max(now, self.course.ends_at)  # what begins at once is due at 0, and a run may start later

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        person = world.people[self.course.index]
        if person.state == EXPOSED:
            world.become_infectious(person, now, rng, touched)
        elif person.state == INFECTIOUS:
            world.recover(person, now, rng, touched)
        else:
            world.become_susceptible(person, now, rng, touched)


class Transmit(Action):
    """A contact of an infectious person would infect, if the other can be infected."""

    contact: Contact

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        source = self.contact.source
        if source.state != INFECTIOUS:
            return NEVER
        k = self.contact.index
        begin, end = world.overlap(k, now, NEVER)
        return first_after(begin, end, world.rates.transmission * world.weight(k) * source.infectivity, rng)

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        target = world.people[world.neighbours[self.contact.index]]
        if target.state == SUSCEPTIBLE and rng.random() < target.susceptibility:
            world.infect(target, now, rng, touched)


class Import(Action):
    """Somebody meets an infectious person from outside: anybody, so that one clock will do."""

    def rate(self, world: Town) -> float:
        return world.rates.importation * len(world.people)

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        person = world.people[rng.integers(0, len(world.people))]
        if person.state == SUSCEPTIBLE and rng.random() < person.susceptibility:
            world.infect(person, now, rng, touched)


class VaccinateMany(Action):
    """A campaign begins with doses for a part of the susceptible people."""

    campaign: Campaign

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        return NEVER if self.campaign.is_done else max(now, self.campaign.starts_at)

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        self.campaign.is_done = True
        left = world.n_in[SUSCEPTIBLE]
        doses = min(rng.binomial(left, self.campaign.coverage), self.campaign.doses_left)
        for person in world.people:  # all choices of so many people are equally likely
            if doses == 0:
                return
            if person.state == SUSCEPTIBLE:
                if rng.random() * left < doses:
                    world.vaccinate(person, self.campaign, now, rng, touched)
                    doses -= 1
                left -= 1


class Vaccinate(Action):
    """A campaign offers a dose to anybody; one who is not susceptible takes none."""

    campaign: Campaign

    def schedule(self, world: Town, now: float, rng: Rng) -> float:
        rate = self.campaign.rate * len(world.people)
        if rate <= 0.0 or self.campaign.doses_left <= 0:
            return NEVER
        at = max(now, self.campaign.starts_at) + rng.exponential(rate)
        return at if at < self.campaign.ends_at else NEVER

    def fire(self, world: Town, now: float, rng: Rng, touched: Touched) -> None:
        person = world.people[rng.integers(0, len(world.people))]
        world.vaccinate(person, self.campaign, now, rng, touched)


class Susceptible(Observable):
    """Number of people who can be infected."""

    def value(self, world: Town) -> float:
        return world.n_in[SUSCEPTIBLE]


class Exposed(Observable):
    """Number of people who are infected and not yet infectious."""

    def value(self, world: Town) -> float:
        return world.n_in[EXPOSED]


class Infectious(Observable):
    """Number of people who are infectious."""

    def value(self, world: Town) -> float:
        return world.n_in[INFECTIOUS]


class Recovered(Observable):
    """Number of people who are immune after an infection."""

    def value(self, world: Town) -> float:
        return world.n_in[RECOVERED]


class Vaccinated(Observable):
    """Number of people who are immune by vaccination."""

    def value(self, world: Town) -> float:
        return world.n_in[VACCINATED]


_SEEN = [Susceptible, Exposed, Infectious, Recovered, Vaccinated]
_OTHERS = [Progress, Import, VaccinateMany, Vaccinate]
MODEL = Model(Town, [Catch, *_OTHERS], observables=_SEEN, name="epidemic")
BY_CONTACT = Model(ContactTown, [Transmit, *_OTHERS], observables=_SEEN, name="epidemic_by_contact")
