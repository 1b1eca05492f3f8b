"""Chromatin with all that loop extrusion may need: species, dynamic CTCF, a free pool, rings, chromosomes."""

from tocsin.models.chromatin.build import chromatin_of, make_chromatin
from tocsin.models.chromatin.genome import read_genome
from tocsin.models.chromatin.model import BARE, MODEL
from tocsin.models.chromatin.species import LefSpecies, RateChange
from tocsin.models.chromatin.track import read_loading
from tocsin.models.chromatin.world import Chromatin

__all__ = [
    "BARE",
    "MODEL",
    "Chromatin",
    "LefSpecies",
    "RateChange",
    "chromatin_of",
    "make_chromatin",
    "read_genome",
    "read_loading",
]
