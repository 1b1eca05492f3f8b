"""`[init]` of a chromatin scenario: what may be said, and how each part is checked."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from tocsin.models._preset import Init

Side = Literal["left", "right", "both"]


class CtcfInit(Init):
    """One CTCF of a synthetic chromosome."""

    site: int = Field(ge=0, description="site of its chromosome, from 0")
    captures_from: Side = Field(description="side a leg must come from")
    strength: float = Field(1.0, ge=0, le=1, description="probability of capture a visit")


class ChromosomeInit(Init):
    """One synthetic chromosome."""

    name: str = Field(min_length=1, description="one word, for files and loading regions")
    n_sites: int = Field(gt=0, description="its length in lattice sites")
    ring: bool = Field(False, description="closed, without ends")
    ctcf: list[CtcfInit] = Field([], description="its CTCF sites")


class SpeciesInit(Init):
    """One kind of LEF; rates in events per unit time, 0 for what it does not do."""

    name: str = Field("LEF", min_length=1, description="to tell species apart")
    share: float = Field(1.0, gt=0, description="of all LEFs, in proportion to the other shares")
    step: float = Field(1.0, ge=0, description="steps of a free leg")
    step_left: float | None = Field(None, ge=0, description="of the leg that faces left, if another")
    step_right: float | None = Field(None, ge=0, description="of the leg that faces right, if another")
    respawn: float | None = Field(None, ge=0, description="unloading with both legs free; 0.001 by default")
    processivity_kb: float | None = Field(None, gt=0, description="or the mean loop of a free LEF, kb, which sets it")
    respawn_blocked: float = Field(1e-2, ge=0, description="unloading with a blocked leg")
    respawn_captured: float = Field(1e-3, ge=0, description="unloading with a captured leg")
    load: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="loading of an unbound LEF; at once by default: no free pool"
    )
    release: float = Field(0.0, ge=0, description="a captured leg lets go of its CTCF")
    pause: float = Field(0.0, ge=0, description="a moving leg stops")
    resume: float = Field(0.0, ge=0, description="a paused leg goes on")
    slide: float = Field(0.0, ge=0, description="passive steps of a leg, to each free side")
    bypass: float = Field(0.0, ge=0, description="a blocked leg jumps over what blocks it (Z-loops)")
    anchor: Literal["none", "left", "right", "either"] = Field("none", description="the leg that stays where it landed")
    bound: float = Field(1.0, ge=0, le=1, description="share of its LEFs that start bound")

    @model_validator(mode="after")
    def _one_of_each(self) -> SpeciesInit:
        if self.respawn is not None and self.processivity_kb is not None:
            raise ValueError("give either respawn or processivity_kb: one sets the other")
        return self


class ExchangeInit(Init):
    """Binding and unbinding of CTCF, alike at all sites."""

    bound: float = Field(1.0, ge=0, le=1, description="share of the time that a protein is on a site")
    residence: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="mean time that it stays; for ever by default"
    )
    when_unbound: Literal["release", "hold"] = Field("release", description="what becomes of a leg that it holds")


class LoadingInit(Init):
    """A part of the lattice with a loading weight of its own; elsewhere it is 1, or the track's."""

    region: str = Field(description="chromosome, or chrom:start-end in bp")
    weight: float = Field(ge=0, allow_inf_nan=False, description="of each site, for landing there")


class ChangeInit(Init):
    """Rates that are other ones from a time on."""

    at: float = Field(allow_inf_nan=False, description="time of the change")
    species: str | None = Field(None, description="the species; all by default")
    multiply: dict[str, float] = Field({}, description="factors by name of rate; also ctcf_binding, ctcf_unbinding")
    set: dict[str, float] = Field({}, description="new values by name of rate")


class ChromatinInit(Init):
    """`[init]`: chromosomes from a file or synthetic; LEFs and what they do."""

    sites: str | None = Field(None, description='BED, narrowPeak, TSV or CSV file; "package:NAME" for a shipped one')
    regions: list[str] | None = Field(None, description="chromosomes, or chrom:start-end; all in the file by default")
    chrom_sizes: str | None = Field(None, description="UCSC chrom.sizes file: where chromosomes end")
    rings: list[str] = Field([], description="names of those chromosomes of a file that are rings")
    strength: Literal["score", "signal"] | float = Field(
        "score", description="probability of capture: a column, or a number"
    )
    score_max: float | None = Field(None, gt=0, description="score that means strength 1, if not 1 or 1000")
    unstranded: Literal["error", "skip", "both"] = Field(
        "error", description="rows whose strand is '.'; both: they capture from both sides"
    )
    format: Literal["bed", "narrowpeak", "tsv", "csv"] | None = Field(None, description="if the suffix does not tell")
    ignore: list[str] = Field([], description="columns of a TSV or CSV file to leave alone")
    chromosome: list[ChromosomeInit] = Field([], description="synthetic chromosomes, instead of sites")
    resolution: int = Field(1000, gt=0, description="bp a lattice site")
    n_lefs: int | None = Field(None, ge=0, description="number of LEFs, bound or not")
    spacing_kb: float | None = Field(None, gt=0, description="or one LEF for each so many kb")
    species: list[SpeciesInit] = Field([], description="kinds of LEFs; one with the defaults if there is none")
    exchange: ExchangeInit = Field(ExchangeInit.model_validate({}), description="binding and unbinding of CTCF")
    loading_track: str | None = Field(None, description="bedGraph of loading weights, instead of 1 everywhere")
    loading: list[LoadingInit] = Field([], description="loading weights; later ones win where they overlap")
    change: list[ChangeInit] = Field([], description="rates that change with time")
    view: str | None = Field(None, description="chromosome, or part of one, that --plot draws")
    bin_kb: float = Field(10.0, gt=0, description="bin of the contact map, kb")
    map_kb: float = Field(3000.0, gt=0, description="longest distance in the contact map, kb")
    window_kb: float = Field(100.0, gt=0, description="side of the square of the insulation score, kb")

    @model_validator(mode="after")
    def _one_of_each(self) -> ChromatinInit:
        if (self.sites is None) == (not self.chromosome):
            raise ValueError("give either sites (a file) or chromosome tables")
        if (self.n_lefs is None) == (self.spacing_kb is None):
            raise ValueError("give either n_lefs or spacing_kb")
        if self.sites is None and (self.regions is not None or self.rings):
            raise ValueError("regions and rings belong to sites (a file); chromosome tables have ring = true")
        return self
