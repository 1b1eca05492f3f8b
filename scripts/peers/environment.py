"""Environments for the race: one for all peers that get on with our Numba, others for those that do not."""

import os
import subprocess
import venv

NEEDS = ["numpy", "numba", "pyarrow", "pydantic", "typer", "rich", "scipy"]
SECONDS = 1_200


def make_environment(folder, wanted):
    """Return the environment's Python, and {name: why} for each that cannot be installed.

    `wanted` says for each name which packages it needs. One that does not install stops no other: if not all
    at once, they are tried one by one.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    together = [package for packages in wanted.values() for package in packages]
    if not install(python, together):
        return str(python), {}
    missing = {}
    for name, packages in wanted.items():
        why = install(python, packages) if packages else ""
        if why:
            missing[name] = why
    return str(python), missing


def install(python, packages):
    """Install packages; return why that failed, or ''."""
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"pip took more than {SECONDS} s"
    errors = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "error"))]
    return (errors or ["pip failed"])[-1][:200] if done.returncode != 0 else ""


def packages_of(python):
    """Return where the environment's packages lie."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def versions(python, packages):
    """Return 'name version' for each package of an environment, where it is installed."""
    code = (
        "import sys, importlib.metadata as m\n"
        "for p in sys.argv[1:]:\n"
        "    try: print(p, m.version(p))\n"
        "    except m.PackageNotFoundError: pass"
    )
    done = subprocess.run([python, "-c", code, *packages], capture_output=True, text=True)
    return done.stdout.splitlines()
