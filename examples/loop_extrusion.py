"""Loop extrusion on a stretch of chromosome 21: which CTCF sites hold loops, and how long loops are.

The short form of docs/guides/loop-extrusion.md, on the map of CTCF sites that comes with Tocsin.
"""

from __future__ import annotations

from tocsin import Simulation
from tocsin.models.extrusion import MODEL, fibre_of, read_example
from tocsin.models.extrusion.loops import summarise_loops
from tocsin.models.extrusion.units import lefs_from_spacing, respawn_from_processivity

REGION = "chr21:28,000,000-33,000,000"
SPACING_KB, PROCESSIVITY_KB = 150.0, 300.0


def main() -> None:
    """Burn in, run, and print the mean loop, the most occupied sites, and the loops at the end."""
    sites = read_example(region=REGION)
    n_lefs = lefs_from_spacing(sites.end - sites.start, SPACING_KB)
    fibre = fibre_of(sites, n_lefs, rates={"respawn": respawn_from_processivity(PROCESSIVITY_KB)}, seed=1)
    simulation = Simulation(MODEL, fibre, seed=1)
    simulation.run(until=3_000.0)
    simulation.reset_observables()
    report = simulation.run(until=20_000.0)
    print(f"{sites.n_ctcfs} CTCF sites, {n_lefs} LEFs, {report.n_events} events")

    mean_kb = simulation.observe()["LoopSize"].mean / n_lefs * sites.resolution / 1000.0
    print(f"mean loop {mean_kb:.1f} kb")

    occupancy = simulation.row_means("Occupancy")[sites.site]
    print("the most occupied CTCF sites:")
    for k in (-occupancy).argsort(kind="stable")[:5]:
        strand = "+" if sites.captures_from[k] > 0 else "-"
        position = sites.start + sites.site[k] * sites.resolution
        print(f"  {sites.chrom}:{position:,} ({strand})  {occupancy[k]:.3f} of the time")

    legs, lefs = simulation.world.legs, simulation.world.lefs
    print(summarise_loops(legs["site"][lefs["left"]], legs["site"][lefs["right"]], resolution=sites.resolution))


if __name__ == "__main__":
    main()
