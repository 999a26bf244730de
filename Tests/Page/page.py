"""The page in Chromium, against the real daemon, library and nowplaying-web. Status 1 when a test fails.

usage: page.py PROGRAMS [PATTERN]    the folder of the programs; only tests whose names contain PATTERN
"""

import pathlib
import sys
import tempfile
import time
import traceback

import controls
import guests
import heard
import lists
import looks
import pictures
import states
from browser import Browser
from house import House


def main():
    programs, pattern = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    tests = [
        (name, test)
        for module in (controls, lists, states, looks, guests, heard, pictures)
        for name, test in vars(module).items()
        if name.startswith("test_") and pattern in name
    ]
    failures = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(f"{folder}/browser")
        house = None
        try:
            house = House(programs, folder, browser)
            for name, test in tests:
                begun = time.monotonic()
                try:
                    test(house, browser)
                    print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
                except Exception:
                    failures += 1
                    print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        finally:
            if house is not None:
                house.close()
            browser.close()
            if failures:
                for log in pathlib.Path(folder).glob("*.log"):
                    print(f"--- {log.name}\n{log.read_text()[-2000:]}")
    print(f"{len(tests) - failures} of {len(tests)} tests of the page passed")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
