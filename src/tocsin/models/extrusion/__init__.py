"""Loop extrusion on chromatin: the model, its CTCF files, its reports and its picture."""

from tocsin.models.extrusion.fibre import fibre_from_legs, fibre_of, make_fibre
from tocsin.models.extrusion.figure import draw_arcs
from tocsin.models.extrusion.lefsim import lefsim_fibre, lefsim_simulation
from tocsin.models.extrusion.loops import summarise_loops
from tocsin.models.extrusion.model import BARE, MODEL, Fibre, Rates
from tocsin.models.extrusion.report import write_bedgraph, write_bedpe, write_sites
from tocsin.models.extrusion.sites import CtcfSites, read_example, read_sites
from tocsin.models.extrusion.units import lefs_from_spacing, respawn_from_processivity

__all__ = [
    "BARE", "MODEL", "CtcfSites", "Fibre", "Rates", "draw_arcs", "fibre_from_legs", "fibre_of",
    "lefs_from_spacing", "lefsim_fibre", "lefsim_simulation", "make_fibre", "read_example",
    "read_sites", "respawn_from_processivity", "summarise_loops", "write_bedgraph", "write_bedpe", "write_sites",
]  # fmt: skip
