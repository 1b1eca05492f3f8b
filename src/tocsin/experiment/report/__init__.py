"""Reports: one self-contained page of an experiment, and its figures."""

from tocsin.experiment.report._report import Report, report

__all__ = ["Report", "report"]
