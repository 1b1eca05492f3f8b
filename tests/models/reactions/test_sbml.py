"""SBML: what is read means what the standard says, and what is not supported is refused by name."""

import random
import re

import numpy as np
import pytest

from tocsin import InputError
from tocsin.errors import TocsinError
from tocsin.formula import formula, value_of
from tocsin.models.reactions import Network
from tocsin.models.reactions.sbml import read_sbml

from ._cases import TIME, apply, concentration, draw, event, immigration_mean, law, mathml, sbml
from ._cases import math as wrapped

BIRTH = law("<ci>a</ci>", "", "X", "birth")
DEATH = law(apply("times", "d", "X"), "X", "", "death")
DECAY = law(apply("times", "k", "X"), "X", "")


def propensity(text):
    """Return the propensity of the first reaction at the start."""
    return read_sbml(text).world().propensities.values[0]


def test_immigration_and_death():
    """A model of two reactions has the means of its closed form."""
    network = read_sbml(sbml(BIRTH + DEATH, "X=10", "a=3 d=0.5"))
    found = network.ensemble(5_000, [1.0, 3.0], seed=3)
    mean = immigration_mean(10, 3.0, 0.5, [1.0, 3.0])
    assert (np.abs(found.mean_of("X") - mean) <= 4.5 * np.sqrt(found.variance_of("X") / 5_000)).all()
    assert {c.kind for c in network.world().channels} == {0}


def test_amounts_and_concentrations():
    """A formula means concentrations unless hasOnlySubstanceUnits is true; amounts are what is kept."""
    for species, wanted in (("X=6", 3.0 * 6), (concentration("X", 3), 3.0 * 3)):
        assert propensity(sbml(DECAY, species, "k=3", size='size="2"')) == wanted
    network = read_sbml(sbml(DECAY, concentration("X", 3), "k=3", size='size="2"'), ["X", "[X]"])
    assert network.species == {"X": 6.0}
    assert network.run([0.0]).values.tolist() == [[6.0, 3.0]]
    text = sbml(law(apply("times", "k", "X", "C"), "X", ""), "X=6", "k=3", size='size="2"')
    assert propensity(text) == 36.0


def test_an_event_sets_a_concentration():
    """What an event gives a species that counts as a concentration is one."""
    text = sbml("", concentration("X", 3), events=event(apply("geq", TIME, 1), {"X": 7}), size='size="2"')
    assert read_sbml(text).run([0.5, 1.5])["X"].tolist() == [6.0, 14.0]


def test_local_parameters_hide_global_ones():
    """A kinetic law's own parameter comes before a global one of its name."""
    local = '<listOfLocalParameters><localParameter id="k" value="5"/></listOfLocalParameters>'
    text = sbml(law(apply("times", "k", "X"), "X", "", extra=local), "X=6", "k=3")
    assert propensity(text) == 30.0


def test_initial_assignments_in_any_order():
    """Initial assignments may need each other, whichever comes first."""

    def start(key, inner):
        return f'<initialAssignment symbol="{key}">{wrapped(inner)}</initialAssignment>'

    starts = start("k", apply("times", "j", 2)) + start("j", apply("plus", "X", 1)) + start("X", mathml(4))
    assert propensity(sbml(DECAY, "X=6", "k=3 j=0", starts=starts)) == 40.0
    circle = start("k", mathml("j")) + start("j", mathml("k"))
    with pytest.raises(InputError, match="initial assignment of j cannot be worked out"):
        read_sbml(sbml(DECAY, "X=6", "k=3 j=0", starts=circle))
    drawn = read_sbml(sbml(DECAY, "X=6", "k=3", starts=start("X", draw("uniform", 10, 20))))
    values = drawn.ensemble(2_000, [0.0], keep=True).values
    assert abs(values.mean() - 15) <= 4.5 * values.std() / np.sqrt(2_000)
    assert values.std() > 1


def rule(key, inner, kind="assignment"):
    """Return a rule."""
    return f'<{kind}Rule variable="{key}">{wrapped(inner)}</{kind}Rule>'


def test_assignment_rules():
    """What a rule sets follows the amounts at all times, through other rules too."""
    rules = rule("z", apply("times", "y", "y")) + rule("y", apply("times", 2, "X"))
    text = sbml(law(apply("times", "k", "y"), "X", ""), "X=6", "k=1 y=0 z=0", rules=rules)
    found = read_sbml(text, ["X", "y", "z"]).run([0.0, 0.3, 0.6], seed=2)
    assert found["y"].tolist() == (2 * found["X"]).tolist()
    assert found["z"].tolist() == (4 * found["X"] ** 2).tolist()
    assert found["X"][-1] < 6
    for n, op in ((25, "times"), (400, "cos")):
        args = ["y{}", "y{}"] if op == "times" else ["y{}"]
        chain = "".join(rule(f"y{k}", apply(op, *(a.format(k - 1) for a in args))) for k in range(1, n))
        names = " ".join(f"y{k}=0" for k in range(n))
        with pytest.raises(InputError, match="a formula grows beyond"):
            read_sbml(sbml(DECAY, "X=6", f"k=1 {names}", rules=chain))
    with pytest.raises(InputError, match="depend"):
        read_sbml(sbml(DECAY, "X=6", "k=1 y=0 z=0", rules=rule("y", mathml("z")) + rule("z", mathml("y"))))


def test_rules_in_any_order():
    """A chain of 200 rules means the same whichever order the document lists them in."""
    rules = [rule(f"y{k}", apply("plus", f"y{k - 1}", 1) if k else mathml("X")) for k in range(200)]
    names = " ".join(f"y{k}=0" for k in range(200))
    for listed in (rules, rules[::-1], rules[::2] + rules[1::2]):
        found = read_sbml(sbml(DECAY, "X=6", f"k=1 {names}", rules="".join(listed)), ["X", "y199"]).run([0.0, 0.5])
        assert found["y199"].tolist() == (found["X"] + 199).tolist()


def test_a_clock_by_a_rate_rule():
    """A parameter that grows at a constant rate triggers an event again and again."""
    events = event(apply("geq", "t", 0.5), {"X": apply("plus", "X", 1), "t": -0.5})
    text = sbml("", "X=0", "t=0 v=2", events=events, rules=rule("t", mathml("v"), "rate"))
    found = read_sbml(text).run([0.2, 0.3, 0.8, 1.3])
    assert found["X"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert found["t"] == pytest.approx([0.4, -0.4, -0.4, -0.4])


def test_boundary_species_stay():
    """A boundary species takes part and does not change."""
    species = (
        '<species id="X" compartment="C" initialAmount="4" hasOnlySubstanceUnits="true" boundaryCondition="true" '
        'constant="false"/>'
    ).replace(" ", "\x00")
    found = read_sbml(sbml(law(apply("times", "k", "X"), "X", "Y"), f"{species} Y=0", "k=1")).run([0.0, 5.0])
    assert found["X"].tolist() == [4.0, 4.0]
    assert found["Y"][-1] > 0


def test_formulas():
    """MathML's operations have their values; functions are expanded."""
    functions = f'<functionDefinition id="f">{wrapped("<lambda><bvar><ci>x</ci></bvar>" + apply("times", "x", "x") + "</lambda>")}</functionDefinition>'
    cases = {
        "<apply><ci>f</ci><ci>X</ci></apply>": 36.0, apply("power", "X", 2): 36.0, apply("root", 16): 4.0,
        apply("log", 1000): 3.0, apply("ln", 1): 0.0, apply("plus"): 0.0, apply("plus", 1, 2, 3, "X"): 12.0,
        apply("tan", 0): 0.0, apply("ceiling", 1.2): 2.0,
        f'<piecewise><piece><cn>1</cn>{apply("gt", "X", 7)}</piece><piece><cn>2</cn>{apply("lt", 1, 5, "X")}</piece>'
        "<otherwise><cn>3</cn></otherwise></piecewise>": 2.0,
        '<cn type="rational">1<sep/>4</cn>': 0.25, '<cn type="e-notation">2<sep/>3</cn>': 2000.0, "<pi/>": np.pi,
    }  # fmt: skip
    for inner, wanted in cases.items():
        got = propensity(sbml(law(inner, "X", ""), "X=6", functions=functions))
        assert got == pytest.approx(wanted, rel=1e-12), inner


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<sbml", "XML, line 1, column"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "a DOCTYPE or an entity is declared"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', "a DOCTYPE or an entity is declared"),
        ("<a>" * 5_000, "nested more than 200 deep"),
        ("<a/>", "SBML, line"),
        ("\ud800", "XML: "),
        (sbml().replace('level="3"', 'level="2"'), "SBML"),
        (sbml(law(apply("times", "k", "X"), "X", ""), concentration("X", 3), "k=1", size=""), "compartment C: species X"),
        (sbml(law(apply("times", "C", "X"), "X", ""), "X=1", size=""), "C has no value"),
        (sbml(law(mathml("q"), "X", ""), "X=1"), "'q'"),
        (sbml(law(apply("times", "k", "X"), "Z", ""), "X=1", "k=1"), "Z"),
        (sbml(DECAY + DECAY, "X=1", "k=1"), "R"),
        (sbml(DECAY.replace("<kineticLaw>", "<!--").replace("</kineticLaw>", "-->"), "X=1", "k=1"), "reaction R has no kinetic law"),
        (sbml(DECAY.replace('fast="false"', 'fast="true"'), "X=1", "k=1"), "reaction R: fast reactions"),
        (sbml(DECAY, "X=1", "k=-1"), r"reaction R: its propensity is -1\.0"),
        (sbml(law(draw("normal", 0, 1), "X", ""), "X=1"), "reaction R: random draws"),
        (sbml(law(apply("sinh", "X"), "X", ""), "X=1"), "'sinh' is not supported"),
        (sbml(DECAY, "X=1", "k=1", rules=f"<algebraicRule>{wrapped(mathml('X'))}</algebraicRule>"), "algebraic rules"),
        (sbml(DECAY, "X=1", "k=1", rules=rule("X", mathml(1), "rate")), "rate rule of X"),
        (sbml("", "X=1", events=event(apply("geq", TIME, 1), {"X": "X"}, extra=f"<delay>{wrapped(mathml(1))}</delay>")), "event E: a delay is supported with"),
        (sbml("", "X=1", events=event(apply("geq", TIME, 1), {"X": 1}, extra=f"<delay>{wrapped(mathml(1))}</delay>").replace('persistent="true"', 'persistent="false"')), "event E: a delay is not supported where"),
        (sbml("", "X=1", events=event(apply("geq", apply("sin", TIME), 1), {"X": 1})), "along straight lines"),
        (sbml("", "X=1", events=event(apply("geq", TIME, 1), {"C": 1})), "C"),
        (sbml().replace("distrib", "qual"), "the SBML package 'qual' is not supported"),
    ],
)  # fmt: skip
def test_refused(text, says):
    """Each is one InputError that names the feature and the id."""
    with pytest.raises(InputError, match=says):
        read_sbml(text).world()


def test_kinetic_laws_of_time():
    """A kinetic law may depend on time, also through a parameter that a rate rule moves."""
    n = 20_000
    moved = sbml(law(mathml("k"), "", "X"), "X=0", "k=1", rules=rule("k", mathml(2), "rate"))
    for text in (moved, sbml(law(apply("plus", 1, apply("times", 2, TIME)), "", "X"), "X=0")):
        found = read_sbml(text).ensemble(n, [3.0], seed=2)
        assert abs(found.mean_of("X")[0] - 12.0) <= 4.5 * np.sqrt(12.0 / n)


def test_events_by_priority_and_with_a_delay():
    """SBML's priorities and delays are those of `Event`."""
    both = event(
        apply("geq", TIME, 1), {"X": apply("times", "X", 2)}, extra=f"<priority>{wrapped(mathml(1))}</priority>"
    )
    both += event(
        apply("geq", TIME, 1), {"X": apply("plus", "X", 1)}, extra=f"<priority>{wrapped(mathml(2))}</priority>"
    ).replace('id="E"', 'id="F"')
    assert read_sbml(sbml("", "X=5", events=both)).run([2.0])["X"].tolist() == [12.0]
    for sets, when, then in (({"X": 9}, "true", 9.0), ({"X": apply("times", "X", 2)}, "false", 10.0)):
        late = event(apply("geq", TIME, 1), sets, extra=f"<delay>{wrapped(mathml(2))}</delay>")
        late = late.replace('useValuesFromTriggerTime="true"', f'useValuesFromTriggerTime="{when}"')
        assert read_sbml(sbml("", "X=5", events=late)).run([2.9, 3.0])["X"].tolist() == [5.0, then]


def test_level_3_version_2():
    """Version 2 of Level 3 is read as Version 1 is."""
    text = (
        sbml(BIRTH + DEATH, "X=10", "a=3 d=0.5")
        .replace("level3/version1/core", "level3/version2/core")
        .replace('version="1"><model', 'version="2"><model')
    )
    text = text.replace(' fast="false"', "")
    assert 'version="2"><model' in text
    assert (
        read_sbml(text).run([1.0], seed=1).values.tolist()
        == read_sbml(sbml(BIRTH + DEATH, "X=10", "a=3 d=0.5")).run([1.0], seed=1).values.tolist()
    )


def test_a_formula_is_recorded():
    """What is recorded may be a formula of what the model has, in SBML's own infix."""
    network = read_sbml(sbml(DECAY, concentration("X", 4), "k=0", size='size="2"'), ["ln(X)", "2 * X"])
    assert network.run([1.0]).values[0].tolist() == pytest.approx([np.log(8.0), 16.0])
    for wrong in ("ln(Y)", "ln(", "Y", "[Y]", "sinh(X)"):
        with pytest.raises(InputError):
            read_sbml(sbml(DECAY, "X=1", "k=1"), [wrong])


def test_amounts_whose_square_is_beyond_a_float():
    """A huge amount has its mean, and the variance of what never changes is 0."""
    found = read_sbml(sbml(DECAY, "X=3 B=1e300", "k=1")).ensemble(2, [0.0, 1.0], jit=False)
    assert found.mean_of("B").tolist() == [1e300, 1e300]
    assert found.variance_of("B")[0] == 0.0


def test_without_libsbml(monkeypatch):
    """Without python-libsbml the error says what to install."""
    import sys

    monkeypatch.setitem(sys.modules, "libsbml", None)
    with pytest.raises(InputError, match=r"pip install 'tocsin\[sbml\]'"):
        read_sbml(sbml(DECAY, "X=1", "k=1"))


def test_damaged_documents():
    """A document cut short or with bytes changed is read or refused, never more."""
    text = sbml(BIRTH + DEATH, "X=10", "a=3 d=0.5", events=event(apply("geq", TIME, 1), {"X": 1}))
    rng = np.random.default_rng(1)
    n_refused = 0
    for _ in range(300):
        letters = list(text)
        for place in rng.integers(0, len(text), 3):
            letters[place] = chr(rng.integers(32, 127))
        try:
            read_sbml("".join(letters)).world()
        except InputError:
            n_refused += 1
    assert n_refused > 150


VALUES = ("", "-1", "NaN", "INF", "1e400", "0", "true", "X", "substance", "litre", "é")
ATTRIBUTE = re.compile(r' \w+="([^"]*)"')


def test_mutated_documents():
    """Attributes of another value or none, elements twice or not at all: read and run, or refused; never more."""
    text = sbml(BIRTH + DEATH, "X=10", "a=3 d=0.5", events=event(apply("geq", TIME, 1), {"X": 1}))
    pick = random.Random(1)
    n_refused = 0
    for _ in range(300):
        mutated = text
        for _ in range(pick.randint(1, 3)):
            found = pick.choice([*ATTRIBUTE.finditer(mutated)])
            change = pick.random()
            if change < 0.5:
                mutated = mutated[: found.start(1)] + pick.choice(VALUES) + mutated[found.end(1) :]
            elif change < 0.8:
                mutated = mutated[: found.start()] + mutated[found.end() :]
            else:
                element = pick.choice([*re.finditer(r"<\w+[^<>]*/>", mutated)])
                mutated = mutated[: element.start()] + element[0] * pick.choice([0, 2]) + mutated[element.end() :]
        try:
            read_sbml(mutated).simulation(seed=1, jit=False).run(until=0.5, events=5)
        except TocsinError:
            n_refused += 1
    assert 100 < n_refused < 300


def test_files(tmp_path):
    """A file is SBML by the end of its name, and named in errors."""
    (tmp_path / "m.xml").write_text(sbml(DECAY, "X=3", "k=1"))
    assert Network.from_file(tmp_path / "m.xml").species == {"X": 3.0}
    (tmp_path / "bad.sbml").write_text("<x>")
    with pytest.raises(InputError, match=r"bad\.sbml: XML, line 1"):
        Network.from_file(tmp_path / "bad.sbml")


def function(key, body):
    """Return a function of x."""
    return f'<functionDefinition id="{key}">{wrapped(f"<lambda><bvar><ci>x</ci></bvar>{body}</lambda>")}</functionDefinition>'


def called(key, arg="x"):
    """Return a call of a function."""
    return f"<apply><ci>{key}</ci><ci>{arg}</ci></apply>"


def chained(n, first, following):
    """Return n functions f0 .. , each of which is made of the one before."""
    return function("f0", first) + "".join(function(f"f{k}", following(f"f{k - 1}")) for k in range(1, n))


TWICE = lambda f: apply("plus", called(f), called(f))  # noqa: E731
LAW = law(called("f0", "X"), "X")
PARAMETERS = " ".join(f"p{k}=1" for k in range(400))
BOMBS = {
    "functions that double": (sbml(law(called("f29", "X"), "X"), "X=10", functions=chained(30, apply("plus", "x", "x"), TWICE)), "grows beyond"),
    "a function of itself": (sbml(LAW, "X=10", functions=function("f0", called("f0"))), "in a circle: f0"),
    "functions in a circle": (
        sbml(LAW, "X=10", functions=function("f0", called("f1")) + function("f1", called("f0"))), "in a circle: f0, f1"
    ),
    "no such function": (sbml(LAW, "X=10"), "reaction R: there is no function 'f0'"),
    "too many arguments": (
        sbml(law("<apply><ci>f0</ci><ci>X</ci><ci>X</ci></apply>", "X"), "X=10", functions=function("f0", "<ci>x</ci>")),
        "function f0 takes 1 arguments, got 2",
    ),
    "rules that double": (
        sbml(law("<ci>p39</ci>", "X"), "X=10", PARAMETERS, rules=rule("p0", apply("plus", "X", "X"))
             + "".join(rule(f"p{k}", apply("plus", f"p{k - 1}", f"p{k - 1}")) for k in range(1, 40))), "assignment rule of p1.: .*grows beyond"
    ),
    "rules in a large circle": (
        sbml(law("<ci>p0</ci>", "X"), "X=10", PARAMETERS, rules="".join(rule(f"p{k}", f"<ci>p{(k + 1) % 400}</ci>") for k in range(400))),
        "in a circle: p0, p1, p10",
    ),
    "a sum without end": (sbml(law(apply("plus", *["X"] * 10_001), "X"), "X=10"), "an <apply> of more than 10,000 terms"),
    "pieces without end": (
        sbml(law(f"<piecewise>{'<piece><cn>1</cn><true/></piece>' * 1_000}</piecewise>", "X"), "X=10"), "has 1,000 of them"
    ),
    "deep": (sbml(law("<apply><minus/>" * 400 + "<ci>X</ci>" + "</apply>" * 400, "X"), "X=10"), "^XML, line 1, column .*: <minus> is nested more than 200 deep"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_small_documents_of_large_formulas(name):
    """What would grow without bound, or call itself, is refused by name, in no time."""
    text, says = BOMBS[name]
    with pytest.raises(InputError, match=says):
        read_sbml(text)


def test_functions_are_put_in():
    """A function may call others, in whatever order they stand; one that is not called may be what we have not."""
    made = function("f1", apply("times", called("f0"), "2")) + function("f0", apply("plus", "x", "1"))
    made += function("f2", apply("factorial", "x"))
    network = read_sbml(sbml(law(called("f1", "X"), "X"), "X=10", functions=made))
    assert network.reactions[0].law == formula("(X + 1) * 2")
    with pytest.raises(InputError, match="function f2: 'factorial' is not supported"):
        read_sbml(sbml(law(called("f2", "X"), "X"), "X=10", functions=made))


def test_a_long_sum_is_read():
    """A sum of thousands, as generated models have, is taken apart in pairs; a short one stays as it is."""
    network = read_sbml(sbml(law(apply("plus", *["X"] * 3_000), "X"), "X=2"))
    assert value_of(network.reactions[0].law, {"X": 2.0}) == 6_000.0
    short = read_sbml(sbml(law(apply("plus", "X", "1", "2", "X"), "X"), "X=2"))
    assert short.reactions[0].law == formula("X + 1 + 2 + X")


def test_starts_in_a_long_row():
    """Initial assignments that need each other in the worst order are worked out all the same."""
    starts = "".join(
        f'<initialAssignment symbol="p{k}">{wrapped(apply("plus", f"p{k + 1}", "1"))}</initialAssignment>'
        for k in range(399)
    )
    network = read_sbml(sbml(law(apply("times", "p0", "X"), "X"), "X=2", PARAMETERS, starts=starts))
    assert network.parameters["p0"] == 400.0


def test_how_the_text_begins():
    """A mark of the byte order, and a declaration that names no encoding, are no reason to refuse a model."""
    text = sbml(law("<ci>X</ci>", "X"), "X=2")
    wanted = read_sbml(text).reactions
    assert read_sbml("\ufeff" + text).reactions == wanted
    assert read_sbml(text.replace(' encoding="UTF-8"', "")).reactions == wanted


def start_of(key, inner):
    """Return an initial assignment."""
    return f'<initialAssignment symbol="{key}">{wrapped(inner)}</initialAssignment>'


COMPARTMENT = '<compartment id="C" spatialDimensions="3" size="1" constant="true"/>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (sbml("", "X=1", "a=0 b=0", starts=start_of("a", draw("normal", 10, 1)) + start_of("b", apply("times", 2, "a"))), "initial assignment of b mentions a, whose own start is drawn"),
        (sbml("", "X=1", "a=0 b=0", starts=start_of("a", draw("poisson", "b")) + start_of("b", draw("poisson", 10))), "initial assignment of a mentions b, whose own start is drawn"),
        (sbml("", "X=1", events=event(apply("gt", "X", 1), {"X": 1}), starts=start_of("X", draw("poisson", 50))), "trigger of event E mentions X, whose own start is drawn"),
        (sbml("", "X=1", starts=start_of("C", draw("poisson", 50))), "compartment C: a size that is drawn"),
        (sbml("", "X=1 X=2"), "X"),
        (sbml("", "X=1", "X=2"), "X"),
        (sbml("", "X=1", "k=1 k=2"), "k"),
        (sbml("", "X=1", "k=1", rules=rule("k", mathml(1)) + rule("k", mathml(2))), "k"),
        (sbml("", "X=1", "k=1", starts=start_of("k", mathml(1)) + start_of("k", mathml(2))), "k"),
        (sbml("", "X=1", "k=1", rules=rule("k", mathml(1)), starts=start_of("k", mathml(2))), "k"),
        (sbml("", "X=1", starts=start_of("nobody", mathml(2))), "nobody"),
        (sbml("", "X=1", "k=1", events=event(apply("geq", TIME, 1), {"k": 2})).replace('value="1" constant="false"', 'value="1" constant="true"'), "'k' is constant"),
        (sbml("", "X=1").replace('compartment="C"', 'compartment="D"'), "D"),
    ],
)  # fmt: skip
def test_ids_and_drawn_starts(text, says):
    """An id is one thing; what is drawn at the start can be told before the first event, and by nothing else."""
    with pytest.raises(InputError, match=says):
        read_sbml(text).world()


def test_a_concentration_before_its_compartment():
    """A species' start may wait for the size of its compartment."""
    starts = start_of("X", mathml(5)) + start_of("C", mathml(2))
    assert read_sbml(sbml("", concentration("X", 3), starts=starts)).species == {"X": 10.0}


def test_names_of_our_own_are_free():
    """What we name ourselves takes no name from the model."""
    text = sbml(law(mathml("_since_k").replace("<cn>", "<ci>").replace("</cn>", "</ci>"), "", "X"), "X=0", "k=1 _since_k=7",
                rules=rule("k", mathml(2), "rate"))  # fmt: skip
    n = 2_000
    assert abs(read_sbml(text).ensemble(n, [2.0], seed=1).mean_of("X")[0] - 14.0) <= 4.5 * np.sqrt(14.0 / n)


def test_all_that_is_due_at_an_instant_goes_by_priority():
    """Events whose delays end at one time, and those without a delay, happen in order of priority."""

    def one(number, priority, delay, at):
        made = event(apply("geq", TIME, at), {"X": apply("plus", apply("times", "X", 10), number)},
                     extra=f"<priority>{wrapped(mathml(priority))}</priority>" + (f"<delay>{wrapped(mathml(delay))}</delay>" if delay else ""))  # fmt: skip
        return made.replace('id="E"', f'id="E{number}"').replace('TriggerTime="true"', 'TriggerTime="false"')

    five = "".join(one(k, 10 - k, 1, 1) for k in range(1, 6))
    crossed = one(1, 1, 2, 1) + one(2, 9, 1, 2)
    mixed = one(1, 1, 0, 3) + one(2, 9, 2, 1)
    for events, wanted in ((five, 12345.0), (crossed, 21.0), (mixed, 21.0)):
        network = read_sbml(sbml("", "X=0", events=events))
        for method in ("direct", "next-reaction"):
            assert network.run([3.5], method=method)["X"].tolist() == [wanted]
