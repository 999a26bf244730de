"""nowplaying-web without Chromium, against the real daemon: frames, proxies, Prometheus, speech, the announcement in the network, the page in WebKit, and disks.

usage: door.py PROGRAMS [PATTERN]    the folder of the programs; only tests whose names contain PATTERN
"""

import sys
import tempfile

import collector
import disks
import frames
import neighbours
import proxies
import runner
import speech
import webkit
from house import House


def main():
    programs, pattern = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    tests = runner.named((frames, proxies, collector, speech, neighbours, webkit, disks), pattern)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        house = House(programs, folder)
        try:
            return runner.run(tests, "door", folder, house)
        finally:
            house.close()


if __name__ == "__main__":
    sys.exit(main())
