"""How the propensity of a channel is found, and what can be wrong with it."""

PRODUCT, FACTORS, FORMULA, TIMED = 0, 1, 2, 3
"""How a propensity is found: constant * x * (y - shift); constant times any number of factors x - shift; by a
formula; as the bound of a formula in which time occurs, of which a share is then turned down (thinning)."""
NO_BOUND, BAD_DELAY, TOO_MANY_DUE, BAD_LAW, BAD_AMOUNT = 1, 2, 3, 4, 5
"""What is wrong with a channel: its propensity is negative, infinite or NaN (0), or larger than its bound; its
delay cannot be; more is on its way than there is room for; its law, where time occurs in it, cannot be; or of
an event: what it sets a species to cannot be an amount."""
