"""Epidemics on networks: SIR, SIS, SEIR and their kin, on contacts that may come and go."""

from tocsin.models.epidemic.build import Vaccination, make_town
from tocsin.models.epidemic.model import BY_CONTACT, MODEL
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
    Rates,
    Town,
)

__all__ = [
    "BY_CONTACT",
    "EXPOSED",
    "INFECTIOUS",
    "MODEL",
    "RECOVERED",
    "SUSCEPTIBLE",
    "VACCINATED",
    "Campaign",
    "Contact",
    "ContactTown",
    "Course",
    "Person",
    "Rates",
    "Town",
    "Vaccination",
    "make_town",
]
