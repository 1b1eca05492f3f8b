"""What people plot of simulated loops: contact maps and their curves, nesting, lifetimes, tracks."""

from tocsin.models.extrusion.analysis.bins import Bins, bins_of, make_bins
from tocsin.models.extrusion.analysis.contacts import ContactMap, contacts_from_simulation, legs_of, states
from tocsin.models.extrusion.analysis.curves import (
    Scaling,
    expected,
    observed_over_expected,
    scaling,
    write_scaling,
)
from tocsin.models.extrusion.analysis.distances import LoopGraph
from tocsin.models.extrusion.analysis.files import (
    load_cool,
    load_npz,
    read_pixels,
    save_cool,
    save_npz,
    write_pixels,
)
from tocsin.models.extrusion.analysis.insulation import Insulation, insulation
from tocsin.models.extrusion.analysis.lifetimes import (
    Lifetimes,
    LifetimeTally,
    lifetimes_of,
    write_lifetimes,
)
from tocsin.models.extrusion.analysis.nesting import LoopTree, NestingTally, coverage, nest, write_nesting
from tocsin.models.extrusion.analysis.plot_map import draw_contacts, draw_insulation
from tocsin.models.extrusion.analysis.plots import draw_lifetimes, draw_nesting, draw_scaling
from tocsin.models.extrusion.analysis.recordings import contacts_from_recording, snapshots_of
from tocsin.models.extrusion.analysis.tracks import LoopTally, write_bigwig, write_bin_track, write_frequencies

__all__ = [
    "Bins", "ContactMap", "Insulation", "LifetimeTally", "Lifetimes", "LoopGraph", "LoopTally", "LoopTree",
    "NestingTally", "Scaling", "bins_of", "contacts_from_recording", "contacts_from_simulation", "coverage", "draw_contacts",
    "draw_insulation", "draw_lifetimes", "draw_nesting", "draw_scaling", "expected", "insulation", "legs_of",
    "lifetimes_of", "load_cool", "load_npz", "make_bins", "nest", "observed_over_expected", "read_pixels",
    "save_cool", "save_npz", "scaling", "snapshots_of", "states", "write_bigwig", "write_bin_track", "write_frequencies", "write_lifetimes", "write_nesting",
    "write_pixels", "write_scaling",
]  # fmt: skip
