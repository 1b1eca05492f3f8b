"""What the read and write sets say without a run."""

from __future__ import annotations

import pytest

from tocsin.check import lints
from tocsin.scenario import shipped

from ._small import SHOP, STREET


def test_each_kind_of_lint_is_found():
    """Untouched readers (clocks and observed rows), unused fields, and a fire that does nothing."""
    found = {lint.label: lint.text for lint in lints(STREET)}
    assert set(found) == {"Dusk.fire/Light.rate", "Dusk.fire/Glow.value", "Lamp.size", "Wait.fire"}
    text = found["Dusk.fire/Light.rate"]
    assert text.startswith("Dusk.fire writes night (_small.py:")
    assert "which Light.rate reads, and never touches a Lamp" in text
    assert "/" not in text.split("(", 1)[1].split(")")[0]


def test_a_model_that_touches_what_it_should_has_none():
    """Spawned and removed rows are touched; fields that only `fire` uses are used."""
    assert [lint for lint in lints(SHOP) if lint.label != "Customer.before"] == []


@pytest.mark.parametrize("preset", list(shipped()), ids=lambda preset: preset.name)
def test_shipped_models_have_none_without_a_reason(preset):
    """What is found on a shipped model is a false alarm that is allowed with a reason."""
    from tocsin.cli._subject import ALLOWED

    allowed = ALLOWED.get(preset.name, {})
    assert {lint.label for lint in lints(preset.model)} == set(allowed)
    assert all(len(reason) > 20 for reason in allowed.values())
