"""People, their contacts, and what an infection does to both.

A contact transmits as a Poisson process while its source is infectious. What comes first is drawn
when the source becomes infectious and stands in the state of the target, `caught_at`, so a recovery
costs nothing; Kiss, Miller and Simon 2017, doi:10.1007/978-3-319-50806-1, appendix A. The contacts of
one person, put end to end, are one Poisson process: a draw is needed for each that transmits, not for
each neighbour. Exact for any law of the infectious period.
"""

from __future__ import annotations

from tocsin import (
    NEVER,
    Arena,
    Array,
    Entity,
    Params,
    Ref,
    Rng,
    Touched,
    boolean,
    float32,
    float64,
    int8,
    int64,
    param,
)
from tocsin.space import Networked

SUSCEPTIBLE, EXPOSED, INFECTIOUS, RECOVERED, VACCINATED = 0, 1, 2, 3, 4
N_STATES = 5
LEAST_HAZARD = 1e-300
"""Of a contact: below, nothing comes of it in any run."""


class Rates(Params):
    """Rates in events per unit time; the unit of time is yours.

    The time in a state has mean 1 / rate. Its shape is that of a Gamma law: 1 is exponential,
    larger is more regular, 0 is always the mean.
    """

    transmission: float64 = param(0.5, unit="1/time", ge=0, doc="transmissions along one contact of weight 1")
    onset: float64 = param(1.0, unit="1/time", gt=0, doc="from exposed to infectious (SEIR, SEIS)")
    recovery: float64 = param(1.0, unit="1/time", ge=0, doc="recoveries of an infectious person; 0: never")
    waning: float64 = param(0.0, unit="1/time", ge=0, doc="loss of immunity after recovery; 0: never")
    vaccine_waning: float64 = param(0.0, unit="1/time", ge=0, doc="loss of immunity after vaccination; 0: never")
    importation: float64 = param(0.0, unit="1/time", ge=0, doc="infections of a susceptible person from outside")
    onset_shape: float64 = param(1.0, ge=0, doc="of the latent period; 1: exponential, 0: fixed")
    recovery_shape: float64 = param(1.0, ge=0, doc="of the infectious period; 1: exponential, 0: fixed")
    waning_shape: float64 = param(1.0, ge=0, doc="of both periods of immunity; 1: exponential, 0: fixed")


class Person(Entity):
    """One person. 24 bytes: an infection looks at whom it reaches."""

    caught_at: float64  # first contact that infects; NEVER unless susceptible
    susceptibility: float32  # 0 .. 1: part of the contacts that infect
    infectivity: float32  # times the rate of transmission
    state: int8


class Course(Entity):
    """What an infection or a dose began: a row for each person, with the same number."""

    ends_at: float64  # end of the present state; NEVER while susceptible


class Contact(Entity):
    """One entry of the network, where contacts have clocks of their own."""

    source: Ref[Person]


class Campaign(Entity):
    """Vaccination of susceptible people: of a part of them at one time, or at a rate for a while."""

    starts_at: float64
    ends_at: float64
    rate: float64  # doses for each susceptible person and unit of time
    coverage: float64  # part of the susceptible people who get a dose at `starts_at`
    efficacy: float64  # part of the doses that give full immunity
    leak: float64  # what the others leave of a person's susceptibility
    doses_left: int64
    is_done: boolean  # whether the doses at `starts_at` were given


class Town(Networked):
    """People and who meets whom.

    Rows 0 .. n - 1 of the network are whom a person can infect; rows `back` .. `back` + n - 1 are who
    can infect him. `back` is 0 unless contacts are directed.
    """

    people: Arena[Person]
    courses: Arena[Course]
    contacts: Arena[Contact]  # one for each entry, or none: people have the clocks
    campaigns: Arena[Campaign]
    since: Array[float64]  # of each entry: the contact lasts from since to before until;
    until: Array[float64]  # both empty: for ever
    n_in: Array[int64]  # people in each state
    back: int64 = 0
    n_infections: int64 = 0  # those of the start not counted
    has_latency: boolean = False
    has_immunity: boolean = True
    rates: Rates

    def move(self, person: Person, state: int, at: float, touched: Touched) -> None:
        """Put a person into a state that ends at a time, other than susceptible."""
        if person.state == SUSCEPTIBLE:
            person.caught_at = NEVER
            touched.add(person)
        self.change(person, state, at, touched)

    def change(self, person: Person, state: int, at: float, touched: Touched) -> None:
        """Count a person in another state, which ends at a time."""
        self.n_in[person.state] -= 1
        self.n_in[state] += 1
        person.state = state
        course = self.courses[person.index]
        course.ends_at = at
        touched.add(course)

    def infect(self, person: Person, now: float, rng: Rng, touched: Touched) -> None:
        """Let a susceptible person be infected."""
        self.n_infections += 1
        if self.has_latency:
            self.move(person, EXPOSED, now + period(rng, self.rates.onset, self.rates.onset_shape), touched)
        else:
            self.become_infectious(person, now, rng, touched)

    def become_infectious(self, person: Person, now: float, rng: Rng, touched: Touched) -> None:
        """Draw how long a person is infectious, and whom he infects first, neighbour by neighbour."""
        ends_at = now + period(rng, self.rates.recovery, self.rates.recovery_shape)
        self.move(person, INFECTIOUS, ends_at, touched)
        if len(self.contacts) > 0:
            self.touch_contacts(person, touched)
            return
        if len(self.weights) == 0 and len(self.since) == 0 and ends_at < NEVER:
            self.meet_evenly(person, now, ends_at, rng, touched)
        else:
            self.meet_one_by_one(person, now, ends_at, rng, touched)

    def meet_evenly(self, person: Person, now: float, ends_at: float, rng: Rng, touched: Touched) -> None:
        """Meet neighbours whose contacts have one rate and last as long: go straight from hit to hit."""
        rate, span = self.rates.transmission * person.infectivity, ends_at - now
        if rate * span < LEAST_HAZARD:
            return
        first = self.begin(person.index)
        n = self.end(person.index) - first
        reach = 1.0 / (rate * span)  # mean way to the next hit, in contacts put end to end
        along = rng.exponential(1.0) * reach
        while along < n:
            k = int(along)
            at = now + (along - k) * span
            self.meet(self.people[self.neighbours[first + k]], at, ends_at, rate, rng, touched)
            along = k + 1 + rng.exponential(1.0) * reach  # what is left of this contact has no memory

    def meet_one_by_one(self, person: Person, now: float, ends_at: float, rng: Rng, touched: Touched) -> None:
        """Meet neighbours by contacts of any rates and times."""
        hazard = rng.exponential(1.0)
        for k in range(self.begin(person.index), self.end(person.index)):
            rate = self.rates.transmission * self.weight(k) * person.infectivity
            begin, end = self.overlap(k, now, ends_at)
            if rate <= 0.0 or begin >= end:
                continue
            at = begin + hazard / rate
            if at >= end:
                hazard = hazard - rate * (end - begin) if end < NEVER else rng.exponential(1.0)
            else:
                self.meet(self.people[self.neighbours[k]], at, end, rate, rng, touched)
                hazard = rng.exponential(1.0)  # what is left of this contact has no memory

    def meet(self, other: Person, at: float, end: float, rate: float, rng: Rng, touched: Touched) -> None:
        """Let a contact at a time infect a person then, or later before the end, unless another is first."""
        if other.state != SUSCEPTIBLE:
            return
        if other.susceptibility < 1.0 and rng.random() >= other.susceptibility:
            at = first_after(at, end, rate * other.susceptibility, rng)
        if at < end and at < other.caught_at:
            other.caught_at = at
            touched.add(other)

    def overlap(self, entry: int, now: float, ends_at: float) -> tuple[float, float]:
        """Return the part of now .. ends_at in which a contact is there."""
        if len(self.since) == 0:
            return now, ends_at
        return max(now, self.since[entry]), min(ends_at, self.until[entry])

    def become_susceptible(self, person: Person, now: float, rng: Rng, touched: Touched) -> None:
        """Draw which of the infectious neighbours infects a person, who may be infected from now on."""
        first_at = NEVER
        if len(self.contacts) == 0:
            row = person.index + self.back
            for k in range(self.begin(row), self.end(row)):
                other = self.people[self.neighbours[k]]
                if other.state == INFECTIOUS:
                    begin, end = self.overlap(k, now, self.courses[other.index].ends_at)
                    rate = self.rates.transmission * self.weight(k) * other.infectivity * person.susceptibility
                    first_at = min(first_at, first_after(begin, end, rate, rng))
        person.caught_at = first_at
        touched.add(person)
        self.change(person, SUSCEPTIBLE, NEVER, touched)

    def recover(self, person: Person, now: float, rng: Rng, touched: Touched) -> None:
        """End a person's infectious period."""
        if len(self.contacts) > 0:
            self.touch_contacts(person, touched)
        if self.has_immunity:
            self.move(person, RECOVERED, now + period(rng, self.rates.waning, self.rates.waning_shape), touched)
        else:
            self.become_susceptible(person, now, rng, touched)

    def vaccinate(self, person: Person, campaign: Campaign, now: float, rng: Rng, touched: Touched) -> None:
        """Give a susceptible person a dose, if there is one."""
        if campaign.doses_left <= 0 or person.state != SUSCEPTIBLE:
            return
        campaign.doses_left -= 1
        touched.add(campaign)
        if rng.bernoulli(campaign.efficacy):
            lasts = period(rng, self.rates.vaccine_waning, self.rates.waning_shape)
            self.move(person, VACCINATED, now + lasts, touched)
        elif campaign.leak < 1.0:
            person.susceptibility *= campaign.leak
            self.become_susceptible(person, now, rng, touched)

    def touch_contacts(self, person: Person, touched: Touched) -> None:
        """Mark the contacts by which a person infects."""
        for k in range(self.begin(person.index), self.end(person.index)):
            touched.add(self.contacts[k])


class ContactTown(Town):
    """A town in which each contact has a clock: the world of `BY_CONTACT`, made by `make_town(by_contact=True)`."""


def first_after(begin: float, end: float, rate: float, rng: Rng) -> float:
    """Return the first point of a Poisson process between two times, or NEVER."""
    if rate <= 0.0 or begin >= end:
        return NEVER
    at = begin + rng.exponential(rate)
    return at if at < end else NEVER


def period(rng: Rng, rate: float, shape: float) -> float:
    """Return a time of mean 1 / rate: Gamma with a shape, 1 exponential, 0 fixed; NEVER at rate 0."""
    if rate == 0.0:
        return NEVER
    if shape == 1.0:
        return rng.exponential(rate)
    return 1.0 / rate if shape == 0.0 else rng.gamma(shape, 1.0 / (shape * rate))
