"""Agents in space, after the papers that began the field: one model a file."""
