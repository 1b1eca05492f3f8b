"""A network as SBML, for the tools that read nothing else."""

from cases import ways


def sbml(case):
    """Return the text of a mass-action network, amounts in one compartment of size 1."""
    species = "".join(
        f'<species id="{s}" compartment="c" initialAmount="{v}" hasOnlySubstanceUnits="true" '
        f'boundaryCondition="false" constant="false"/>'
        for s, v in case.species.items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">'
        '<model id="m" substanceUnits="item" extentUnits="item"><listOfCompartments><compartment id="c" size="1" constant="true"/></listOfCompartments>'
        f"<listOfSpecies>{species}</listOfSpecies><listOfReactions>"
        + "".join(_reaction(k, *one) for k, one in enumerate(case.reactions))
        + "</listOfReactions></model></sbml>"
    )


def _reaction(k, rate, before, after):
    law = "".join(_falling(s, before.count(s)) for s in dict.fromkeys(before))
    return (
        f'<reaction id="r{k}" reversible="false" fast="false">'
        f"{_side('listOfReactants', before)}{_side('listOfProducts', after)}"
        f'<kineticLaw><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><cn> {rate / ways(before):.12f} </cn>{law}</apply>'
        "</math></kineticLaw></reaction>"
    )


def _falling(species, n):
    """Return X (X - 1) ... of `n` factors."""
    factors = [f"<apply><minus/><ci> {species} </ci><cn> {k} </cn></apply>" for k in range(1, n)]
    return f"<ci> {species} </ci>" + "".join(factors)


def _side(tag, names):
    items = "".join(
        f'<speciesReference species="{s}" stoichiometry="{names.count(s)}" constant="true"/>'
        for s in dict.fromkeys(names)
    )
    return f"<{tag}>{items}</{tag}>" if items else ""
