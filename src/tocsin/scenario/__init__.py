"""Scenarios: a run as a TOML file, checked, run and recorded with its provenance."""

from tocsin.scenario._describe import describe
from tocsin.scenario._execute import Outcome, execute, prepare_folder
from tocsin.scenario._registry import AnyPreset, find_preset, shipped
from tocsin.scenario._scenario import Scenario, load_scenario, make_scenario
from tocsin.scenario._summary import summarise, write_summary
from tocsin.scenario._toml import parse_override

__all__ = [
    "AnyPreset", "Outcome", "Scenario", "describe", "execute", "find_preset", "load_scenario",
    "make_scenario", "parse_override", "prepare_folder", "shipped", "summarise", "write_summary",
]  # fmt: skip
