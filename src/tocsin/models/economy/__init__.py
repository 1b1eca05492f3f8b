"""Game economies: players as entities, their sessions as clocks, the design as data."""
