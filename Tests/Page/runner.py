"""Runs tests one after another, and reports failed tests and tests that could not run."""

import pathlib
import time
import traceback

from browser import NotTested


def named(modules, pattern):
    """The tests of some modules whose names contain a pattern: pairs of a name and a function."""
    return [
        (name, test)
        for module in modules
        for name, test in vars(module).items()
        if name.startswith("test_") and pattern in name
    ]


def run(tests, place, folder, *given):
    """Runs tests with these arguments. After a failure, it prints the logs of a folder. Returns the status of the process."""
    failures = left = 0
    for name, test in tests:
        begun = time.monotonic()
        try:
            test(*given)
            print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except NotTested as reason:
            left += 1
            print(f"NOT TESTED: {name}: {reason}", flush=True)
        except Exception:
            failures += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
    if failures:
        for log in pathlib.Path(folder).glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()[-2000:]}")
    rest = f", {left} not tested" if left else ""
    print(f"{len(tests) - failures - left} of {len(tests)} tests of the {place} passed{rest}")
    return 1 if failures or not tests else 0
