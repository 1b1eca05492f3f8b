"""libroadrunner: its Gillespie integrator, on SBML."""

import roadrunner
from _sbml import sbml
from cases import CHEMISTRY
from contestant import serve


def chemistry(name):
    case = CHEMISTRY[name]
    model = roadrunner.RoadRunner(sbml(case))
    model.setIntegrator("gillespie")
    model.getIntegrator().setValue("variable_step_size", False)
    model.timeCourseSelections = ["time", case.seen]

    def program(seed):
        model.reset()
        model.getIntegrator().setValue("seed", seed)
        found = model.simulate(0.0, case.until, 2)
        return {case.seen: float(found[-1][1])}

    return program


serve({name: (lambda name=name: chemistry(name)) for name in CHEMISTRY})
