"""Every law holds for both exact methods."""

import pytest

from ._models import METHODS, NAMES, classic


@pytest.fixture(params=METHODS)
def method(request, monkeypatch):
    """Let all classic models go by one method, then by the other."""
    for name in NAMES:
        monkeypatch.setattr(classic(name, build=False).model, "method", request.param)
    return request.param
