"""Formulas as data: a safe expression language, parsed to postfix tables that compiled models evaluate."""
