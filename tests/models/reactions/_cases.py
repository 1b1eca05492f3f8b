"""Networks with known answers, and SBML documents made of parts."""

import numpy as np

from tocsin.models.reactions import Event, Network, Reaction

CLOCKS = ("next-reaction", "composition-rejection")
METHODS = ("direct", *CLOCKS)

IMMIGRATION = Network({"X": 10}, [Reaction("0 -> X", 3.0), Reaction("X -> 0", 0.5)])
DIMERS = Network({"P": 60, "P2": 0}, [Reaction("2 P -> P2", 0.02), Reaction("P2 -> 2 P", 0.5)])
ENZYME = Network(
    {"S": 80, "E": 10, "SE": 0, "P": 0},
    [Reaction("S + E -> SE", "k"), Reaction("SE -> S + E", 0.5), Reaction("SE -> E + P", 1.0)],
    {"k": 0.05},
)
TRIPLES = Network({"A": 30, "B": 0}, [Reaction("3 A -> B", 0.005), Reaction("B -> 3 A", 0.2)])
SATURATED = Network(
    {"G": 40, "W": 5}, [Reaction("G -> W", law="V * G / (K + G)"), Reaction("W -> G", 0.1)], {"V": 6.0, "K": 10.0}
)
RESET = Network(
    {"X": 0, "N": 0},
    [Reaction("0 -> X", "birth"), Reaction("X -> 0", 0.2)],
    {"birth": 4.0},
    [Event("time >= 1.25", {"X": "2 * X + 1", "birth": 1.0}), Event("X > 8", {"X": 0, "N": "N + 1"})],
)
NETWORKS = {
    "immigration": IMMIGRATION, "dimers": DIMERS, "enzyme": ENZYME, "triples": TRIPLES, "saturated": SATURATED,
    "reset": RESET,
}  # fmt: skip
BRUSSELATOR = Network(
    {"X": 10, "Y": 20}, [Reaction("0 -> X", 50.0), Reaction("2 X + Y -> 3 X", 0.005), Reaction("X -> Y", 5.0), Reaction("X -> 0", 0.5)]
)  # fmt: skip
ARITHMETIC = Network(
    {"X": 50, "Y": 10, "Z": 0},
    [
        Reaction("X -> Y", law="k * X / (1 + (Y / K) ^ 2)"), Reaction("Y -> Z", law="if(Z < 5 and not X == 3, 2, 0.5) * min(Y, 4)"),
        Reaction("Z -> X", law="abs(0 - sqrt(Z)) + max(Z - 1, 0)"), Reaction("0 -> Y", law="-(-0.5) - 0.25 * (Y > 3 or Z >= 9)"),
        Reaction("Y -> 0", "k"),
    ],
    {"k": 2.0, "K": 6.0},
)  # fmt: skip
SEVEN = Network({f"S{k}": 9 for k in range(7)}, [Reaction(f"S{k} -> S{(k + 1) % 7}", 1.0 + k) for k in range(7)])
SMALL = NETWORKS | {"brusselator": BRUSSELATOR, "arithmetic": ARITHMETIC, "seven": SEVEN}
TIMES = (0.0, 0.5, 1.0, 2.0, 4.0)


def agree(one, other, limit=4.5):
    """Assert that two samples, shape (n, ...), have one mean and one variance within `limit` standard errors."""
    gap = one.mean(axis=0) - other.mean(axis=0)
    error = np.sqrt(one.var(axis=0, ddof=1) / len(one) + other.var(axis=0, ddof=1) / len(other))
    assert (np.abs(gap) <= limit * error + 1e-12).all(), np.abs(gap / np.maximum(error, 1e-12)).max()
    squares = [(x - x.mean(axis=0)) ** 2 for x in (one, other)]
    gap = squares[0].mean(axis=0) - squares[1].mean(axis=0)
    error = np.sqrt(sum(s.var(axis=0, ddof=1) / len(s) for s in squares))
    assert (np.abs(gap) <= limit * error + 1e-12).all(), np.abs(gap / np.maximum(error, 1e-12)).max()


def immigration_mean(start, birth, death, time):
    """Mean of immigration and death: the starters that are left, and a Poisson number of others."""
    left = np.exp(-death * np.asarray(time))
    return start * left + birth / death * (1 - left)


def immigration_variance(start, birth, death, time):
    """Variance of immigration and death."""
    left = np.exp(-death * np.asarray(time))
    return start * left * (1 - left) + birth / death * (1 - left)


def math(inner):
    """Wrap MathML."""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML">{inner}</math>'


def apply(op, *args):
    """Return MathML of an operation; a word of letters is a name, all else a number or markup."""
    return f"<apply><{op}/>{''.join(map(mathml, args))}</apply>"


def mathml(arg):
    """Return MathML of a name, a number, or markup as it is."""
    text = str(arg)
    if text.startswith("<"):
        return text
    return f"<ci>{text}</ci>" if text[0].isalpha() else f"<cn>{text}</cn>"


TIME = '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>'


def draw(family, *args):
    """Return MathML of a random draw."""
    url = f"http://www.sbml.org/sbml/symbols/distrib/{family}"
    return (
        f'<apply><csymbol encoding="text" definitionURL="{url}">{family}</csymbol>{"".join(map(mathml, args))}</apply>'
    )


def law(inner, reactants="", products="", key="R", extra=""):
    """Return a reaction; reactants and products like 'X X Y'."""
    sides = ""
    for tag, words in (("Reactants", reactants), ("Products", products)):
        refs = "".join(f'<speciesReference species="{w}" stoichiometry="1" constant="true"/>' for w in words.split())
        sides += f"<listOf{tag}>{refs}</listOf{tag}>" if refs else ""
    return f'<reaction id="{key}" reversible="false" fast="false">{sides}<kineticLaw>{math(inner)}{extra}</kineticLaw></reaction>'


def sbml(reactions="", species="", parameters="", events="", rules="", starts="", size='size="1"', functions=""):
    """Return an SBML document with one compartment C; species like 'X=10', parameters like 'k=1'."""
    made = []
    for part in species.split():  # markup has its spaces as NUL
        key, _, value = part.partition("=")
        made.append(
            part.replace("\x00", " ") if part.startswith("<") else
            f'<species id="{key}" compartment="C" initialAmount="{value}" hasOnlySubstanceUnits="true" '
            'boundaryCondition="false" constant="false"/>'
        )  # fmt: skip
    named = "".join(
        f'<parameter id="{key}" value="{value}" constant="false"/>'
        for key, _, value in (part.partition("=") for part in parameters.split())
    )
    lists = {
        "FunctionDefinitions": functions,
        "Compartments": f'<compartment id="C" spatialDimensions="3" {size} constant="true"/>', "Species": "".join(made),
        "Parameters": named, "InitialAssignments": starts, "Rules": rules, "Reactions": reactions, "Events": events,
    }  # fmt: skip
    body = "".join(f"<listOf{tag}>{inner}</listOf{tag}>" for tag, inner in lists.items() if inner)
    return (
        '<?xml version="1.0" encoding="UTF-8"?><sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" '
        'xmlns:distrib="http://www.sbml.org/sbml/level3/version1/distrib/version1" distrib:required="true" '
        f'level="3" version="1"><model id="M">{body}</model></sbml>'
    )


def concentration(key, value):
    """Return a species that counts as a concentration in formulas."""
    return (
        f'<species id="{key}" compartment="C" initialConcentration="{value}" hasOnlySubstanceUnits="false" '
        'boundaryCondition="false" constant="false"/>'
    ).replace(" ", "\x00")


def event(trigger, assignments, initial="true", extra=""):
    """Return an event; assignments by id."""
    sets = "".join(
        f'<eventAssignment variable="{k}">{math(mathml(v))}</eventAssignment>' for k, v in assignments.items()
    )
    return (
        f'<event id="E" useValuesFromTriggerTime="true"><trigger initialValue="{initial}" persistent="true">'
        f"{math(trigger)}</trigger>{extra}<listOfEventAssignments>{sets}</listOfEventAssignments></event>"
    )
