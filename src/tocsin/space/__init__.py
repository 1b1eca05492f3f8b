"""Where rows live: grids, planes and networks, as plain arrays in the world."""
