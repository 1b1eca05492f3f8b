"""Epidemics by name: what a scenario may say about them, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from tocsin.errors import InputError
from tocsin.export.marks import Cells, View
from tocsin.models._preset import Init, Preset, Start, Variant
from tocsin.models.epidemic.build import Vaccination, make_town
from tocsin.models.epidemic.contacts import Contacts, read_contacts
from tocsin.models.epidemic.model import BY_CONTACT, MODEL
from tocsin.models.epidemic.world import Town
from tocsin.run import Simulation
from tocsin.space import barabasi_albert, complete, configuration, erdos_renyi, lattice, small_world

_NEEDS = {
    "erdos_renyi": ("n", "mean_degree"), "barabasi_albert": ("n", "m"), "small_world": ("n", "k", "rewired"),
    "lattice": ("shape",), "configuration": ("degrees",), "complete": ("n",), "file": ("file",),
}  # fmt: skip
Kind = Literal["erdos_renyi", "barabasi_albert", "small_world", "lattice", "configuration", "complete", "file"]


class NetworkInit(Init):
    """Who meets whom."""

    kind: Kind = Field("erdos_renyi", description="how it is made")
    n: int | None = Field(None, gt=0, description="people")
    mean_degree: float | None = Field(None, ge=0, allow_inf_nan=False, description="erdos_renyi: contacts of a person")
    m: int | None = Field(None, gt=0, description="barabasi_albert: contacts that a newcomer makes")
    k: int | None = Field(None, gt=0, description="small_world: contacts in the ring, even")
    rewired: float | None = Field(None, ge=0, le=1, description="small_world: part of the contacts that are rewired")
    shape: list[int] | None = Field(None, description="lattice: lengths of its axes")
    periodic: bool = Field(True, description="lattice: whether its ends are joined")
    degrees: list[int] | None = Field(None, description="configuration: contacts of each person")
    file: str | None = Field(None, description="file: CSV or Parquet with source, target[, weight, since, until]")
    directed: bool = Field(False, description="file: whether only the source infects")

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> NetworkInit:
        for name in _NEEDS[self.kind]:
            if getattr(self, name) is None:
                raise ValueError(f"a network of kind {self.kind!r} needs {name} = ...")
        return self


class VaccinationInit(Init):
    """One campaign of vaccination."""

    starts_at: float = Field(0.0, ge=0, allow_inf_nan=False, description="when it starts")
    ends_at: float | None = Field(None, ge=0, description="when doses at a rate end; never by default")
    rate: float = Field(
        0.0, ge=0, allow_inf_nan=False, description="doses for each susceptible person and unit of time"
    )
    coverage: float = Field(0.0, ge=0, le=1, description="part of the susceptible people with a dose at the start")
    efficacy: float = Field(1.0, ge=0, le=1, description="part of the doses that give full immunity")
    leak: float = Field(1.0, ge=0, le=1, description="what the other doses leave of a person's susceptibility")
    doses: int | None = Field(None, ge=0, description="how many there are; enough by default")


class EpidemicInit(Init):
    """`[init]`: the network, the illness, who has it, and who is vaccinated."""

    network: NetworkInit = Field(
        NetworkInit.model_validate({"n": 10_000, "mean_degree": 10.0}), description="who meets whom"
    )
    course: Literal["SIR", "SIS", "SEIR", "SEIS"] = Field("SIR", description="with rates.waning > 0, SIR is SIRS")
    n_infectious: int = Field(10, ge=0, description="infectious at the start, chosen at random")
    infectious: list[int] | None = Field(None, description="or who they are")
    vaccination: list[VaccinationInit] = Field([], description="campaigns")
    clocks: Literal["people", "contacts"] = Field("people", description="what has a clock; the law is the same")


def _network(init: NetworkInit, start: Start[EpidemicInit]) -> Contacts:
    n, seed = init.n or 0, start.seed
    if init.kind == "file":
        return read_contacts(start.folder / (init.file or ""), n=init.n, directed=init.directed)
    made = {
        "erdos_renyi": lambda: erdos_renyi(n, init.mean_degree or 0.0, seed),
        "barabasi_albert": lambda: barabasi_albert(n, init.m or 0, seed),
        "small_world": lambda: small_world(n, init.k or 0, init.rewired or 0.0, seed),
        "lattice": lambda: lattice(init.shape or [], periodic=init.periodic),
        "configuration": lambda: configuration(init.degrees or [], seed),
        "complete": lambda: complete(n),
    }
    return Contacts(made[init.kind]())


def _build(start: Start[EpidemicInit]) -> tuple[Town, None]:
    init = start.init
    try:
        contacts = _network(init.network, start)
    except InputError as error:
        raise InputError(f"init.network: {error}") from None
    people: Any = init.infectious
    if people is None:
        if init.n_infectious > contacts.network.n:
            raise InputError(f"init.n_infectious must be <= {contacts.network.n} people, got {init.n_infectious}")
        people = np.random.default_rng([start.seed, 1]).permutation(contacts.network.n)[: init.n_infectious]
    town = make_town(
        contacts.network, people, course=init.course, rates=start.params["rates"],  # type: ignore[arg-type]
        since=contacts.since, until=contacts.until, vaccinations=[_vaccination(one) for one in init.vaccination],
        by_contact=init.clocks == "contacts",
    )  # fmt: skip
    return town, None


def _vaccination(init: VaccinationInit) -> Vaccination:
    ends_at = np.inf if init.ends_at is None else init.ends_at
    doses = 2**62 if init.doses is None else init.doses
    return Vaccination(init.starts_at, ends_at, init.rate, init.coverage, init.efficacy, init.leak, doses)


def _summarise(simulation: Simulation[Town], context: None) -> Mapping[str, Any]:
    world, seen = simulation.world, simulation.observe()
    n = len(world.people)
    return {
        "people": n,
        "contacts of a person": float(np.diff(world.first.values[: n + 1]).mean()) if n else 0.0,
        "infections": world.n_infections,
        "infections a person": world.n_infections / n if n else 0.0,
        "most infectious at a time": seen["Infectious"].high,
    }


VIEW = View(
    (Cells(table="people", value="state"),), labels=("exposed", "infectious", "recovered", "vaccinated"), blank="susceptible",
    colours=("#d9a21b", "#c23b3b", "#2f9367", "#3b6fb6"),
    note="Each cell is a person, line by line as they are numbered; where a cell lies says nothing about whom a person meets.",
)  # fmt: skip

WORLD: Preset[EpidemicInit, Town, None] = Preset(
    name="epidemic",
    summary="Epidemics on networks: SIR, SIS, SEIR, waning immunity, vaccination, contacts that come and go.",
    model=MODEL,
    init=EpidemicInit,
    build=_build,
    summarise=_summarise,
    variant=lambda init: Variant(BY_CONTACT if init.clocks == "contacts" else MODEL),
    view=VIEW,
)
