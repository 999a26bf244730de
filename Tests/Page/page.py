"""The page in Chromium, against the real daemon, library and nowplaying-web. Status 1 when a test fails.

usage: page.py PROGRAMS [PATTERN]    the folder of the programs; only tests whose names contain PATTERN
"""

import sys
import tempfile

import below
import controls
import guests
import heard
import lists
import looks
import pictures
import rooms
import runner
import states
from browser import Browser
from house import House


def main():
    programs, pattern = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    tests = runner.named((controls, below, lists, states, looks, guests, heard, pictures, rooms), pattern)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(f"{folder}/browser")
        house = None
        try:
            house = House(programs, folder, browser)
            return runner.run(tests, "page", folder, house, browser)
        finally:
            if house is not None:
                house.close()
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
