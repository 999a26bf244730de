"""nowplaying-web without Chromium, against the real daemon: frames, proxies, speech, the announcement in the network, and the page in WebKit.

usage: door.py PROGRAMS [PATTERN]    the folder of the programs; only tests whose names contain PATTERN
"""

import pathlib
import sys
import tempfile
import time
import traceback

import frames
import neighbours
import proxies
import speech
import webkit
from house import House


def main():
    programs, pattern = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    tests = [
        (name, test)
        for module in (frames, proxies, speech, neighbours, webkit)
        for name, test in vars(module).items()
        if name.startswith("test_") and pattern in name
    ]
    failures = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        house = House(programs, folder)
        try:
            for name, test in tests:
                begun = time.monotonic()
                try:
                    test(house)
                    print(f"ok {name} ({time.monotonic() - begun:.1f} s)", flush=True)
                except Exception:
                    failures += 1
                    print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        finally:
            house.close()
            if failures:
                for log in pathlib.Path(folder).glob("*.log"):
                    print(f"--- {log.name}\n{log.read_text()[-2000:]}")
    print(f"{len(tests) - failures} of {len(tests)} tests of the door passed")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
