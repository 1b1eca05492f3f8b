"""What all tests share: one fresh cache of machine code for the whole session."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory):
    """Compile each model once a session, and leave the user's own cache alone."""
    before = os.environ.get("TOCSIN_CACHE_DIR")
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # that of all workers
    os.environ["TOCSIN_CACHE_DIR"] = str(base / "cache")
    yield
    if before is None:
        del os.environ["TOCSIN_CACHE_DIR"]
    else:
        os.environ["TOCSIN_CACHE_DIR"] = before
