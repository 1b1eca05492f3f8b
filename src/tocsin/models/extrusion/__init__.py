"""Loop extrusion on chromatin: the model, its CTCF files, its reports and its picture."""

from tocsin.models.extrusion.fibre import fibre_from_legs, fibre_of, make_fibre
from tocsin.models.extrusion.model import BARE, MODEL, Fibre, Rates
from tocsin.models.extrusion.sites import CtcfSites, read_example, read_sites

__all__ = [
    "BARE", "MODEL", "CtcfSites", "Fibre", "Rates", "fibre_from_legs", "fibre_of", "make_fibre",
    "read_example", "read_sites",
]  # fmt: skip
