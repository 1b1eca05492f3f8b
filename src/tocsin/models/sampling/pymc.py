"""PyMC models as targets, through PyTensor's Numba backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from tocsin.errors import InputError
from tocsin.models.sampling.density import LogDensity


def from_pymc(model: Any, **options: Any) -> LogDensity:
    """Return a PyMC model as a target.

    Parameters
    ----------
    model : a pymc.Model whose free variables are all continuous
    options : those of LogDensity: `curvature`, `is_log_concave`, `scale`, `start`

    The coordinates are PyMC's own unconstrained values (log of a positive variable, and so on), so there
    are no walls; `sample` gives the variables of the model back. Raises InputError for discrete variables, and without PyMC.
    """
    try:
        import pymc as pm
    except ImportError:
        raise InputError("from_pymc needs PyMC, which is not installed; run: pip install 'tocsin[pymc]'") from None
    if not isinstance(model, pm.Model):
        raise InputError(f"expected a pymc.Model, got {type(model).__name__}")
    if model.discrete_value_vars:
        names = ", ".join(v.name for v in model.discrete_value_vars)
        raise InputError(f"piecewise-deterministic samplers need continuous variables; {names} is discrete. Sum it out")
    function = model.logp_dlogp_function(ravel_inputs=True, mode="NUMBA")
    function.set_extra_values({})
    compiled = function._pytensor_function.vm.jit_fn
    point = model.initial_point()
    values = function.dict_to_array(point) if hasattr(function, "dict_to_array") else _ravelled(model, point)
    return PymcDensity(model, compiled, np.asarray(values, np.float64), options)


def _ravelled(model: Any, point: dict[str, Any]) -> Any:
    return np.concatenate([np.ravel(point[v.name]) for v in model.value_vars])


class PymcDensity(LogDensity):
    """A PyMC model: `LogDensity` on its unconstrained values."""

    name = "pymc model"

    def __init__(self, model: Any, compiled: Any, start: Any, options: dict[str, Any]) -> None:
        self.model = model
        names = [
            f"{v.name}[{k}]" if size > 1 else v.name
            for v, size in ((v, int(np.prod(np.shape(model.initial_point()[v.name])))) for v in model.value_vars)
            for k in range(size)
        ]
        super().__init__(compiled, len(start), logp="both", start=options.pop("start", start), names=names, **options)

    def posterior(self, draws: Any) -> Any:
        """Return a data set of the model's variables from unconstrained draws (chains, n, d)."""
        import xarray as xr

        points = []
        for chain in draws:
            at, columns = 0, {}
            for v in self.model.value_vars:
                shape = np.shape(self.model.initial_point()[v.name])
                size = int(np.prod(shape))
                columns[v.name] = chain[:, at : at + size].reshape(len(chain), *shape)
                at += size
            points.append(columns)
        free = {n: np.stack([p[n] for p in points]) for n in points[0]}
        trace = xr.Dataset(
            {n: (("chain", "draw", *(f"{n}_dim_{k}" for k in range(v.ndim - 2))), v) for n, v in free.items()}
        )
        return _constrained(self.model, trace)


def _constrained(model: Any, trace: Any) -> Any:
    """Return the model's variables at unconstrained values."""
    import xarray as xr

    names = {v.name for v in (*model.free_RVs, *model.deterministics)}
    wanted = [v for v in model.unobserved_value_vars if v.name in names]
    function = model.compile_fn(wanted, inputs=model.value_vars, on_unused_input="ignore", point_fn=False)
    chains, n = trace.sizes["chain"], trace.sizes["draw"]
    columns = [trace[v.name].values for v in model.value_vars]
    rows = [[function(*(c[k, m] for c in columns)) for m in range(n)] for k in range(chains)]
    coords = {name: list(labels) for name, labels in model.coords.items() if labels is not None}
    found = {}
    for index, variable in enumerate(wanted):
        values = np.stack([np.stack([row[index] for row in chain]) for chain in rows])
        dims = model.named_vars_to_dims.get(variable.name) or [
            f"{variable.name}_dim_{k}" for k in range(values.ndim - 2)
        ]
        found[variable.name] = (("chain", "draw", *dims), values)
    used = {d for dims, _ in found.values() for d in dims}
    return xr.Dataset(found, coords={k: v for k, v in coords.items() if k in used})
