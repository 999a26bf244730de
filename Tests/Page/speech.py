"""Announcements that a real speech program speaks."""

import shutil
import urllib.request

from browser import NotTested


def test_espeak(house):
    """espeak-ng, as the manual names it, speaks in its sandbox."""
    if shutil.which("espeak-ng") is None:
        raise NotTested("espeak-ng is not installed")
    house.end(house.web)
    house.begin_web(more="speech = /usr/bin/espeak-ng --stdin --stdout\n")
    try:
        request = urllib.request.Request(f"{house.address}/announce?wait", b"Dinner is ready", {"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert b'"status":"success"' in answer.read()
    finally:
        house.end(house.web)
        house.begin_web()
