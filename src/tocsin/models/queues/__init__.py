"""The small classics of discrete-event simulation, each with a closed form: templates to copy."""

from tocsin.models.queues._line import Customer, Line

__all__ = ["Customer", "Line"]
