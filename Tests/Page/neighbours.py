"""The announcement in the network by the real Avahi, on a bus and in a network of its own."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from browser import NotTested, until

TYPE = "_nowplayingd._tcp"


def test_network(house):
    """Announced when Avahi runs, again after its restart, under another name beside a namesake, and gone with the bridge."""
    if shutil.which("avahi-daemon", path="/usr/sbin") is None:
        raise NotTested("avahi-daemon is not installed")
    if os.getuid() != 0:
        raise NotTested("a network of its own needs root")
    words = ["unshare", "--net", "--mount", sys.executable, "-B", __file__, str(house.programs), str(house.folder / "network")]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, env=house.environment)
    assert run.returncode == 0, run.stdout + run.stderr


def inside(house, folder):
    """The test, in a private network."""
    for line in (
        "link set lo up",
        "link add lan0 type veth peer name lan1",
        "link set lan1 up",
        "addr add 192.0.2.7/24 dev lan0",
        "link set lan0 up multicast on",
        "route add default dev lan0",
    ):
        subprocess.run(["ip", *line.split()], check=True)
    # Avahi has one folder on a machine; this folder is in the test's own mount namespace.
    pathlib.Path("/run/avahi-daemon").mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/avahi-daemon"], check=True)
    bus = f"unix:path={folder}/system-bus"
    house.environment["DBUS_SYSTEM_BUS_ADDRESS"] = os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = bus
    settings = folder / "avahi.conf"
    settings.write_text("[server]\nuse-ipv6=no\nallow-interfaces=lan0\nhost-name=box\nenable-dbus=yes\n[publish]\n[reflector]\n[rlimits]\n")

    def begin_avahi():
        words = ["avahi-daemon", "-f", settings, "--no-drop-root", "--no-chroot", "--no-rlimits"]
        return house.start("/usr/sbin/" + words[0], *words[1:])

    def services():
        """Name, port and facts of each service that the network has."""
        lines = subprocess.run(["avahi-browse", "-rpt", TYPE], capture_output=True, text=True, check=False).stdout.splitlines()
        found = {}
        for fields in (line.split(";") for line in lines if line.startswith("=")):
            facts = dict(re.findall(r'"([^"=]+)=([^"]*)"', ";".join(fields[9:])))
            found[re.sub(r"\\(\d{3})", lambda code: chr(int(code[1])), fields[3])] = (int(fields[8]), facts)
        return found

    house.begin_daemon()
    until(lambda: house.call("hello"), "the daemon")
    # Neither the bus nor Avahi is there.
    house.begin_web(host="*")
    house.start("dbus-daemon", "--session", f"--address={bus}", "--nofork", "--nopidfile")
    until(lambda: (folder / "system-bus").exists(), "the bus")
    avahi = begin_avahi()
    name = "nowplayingd on " + os.uname().nodename
    port, facts = until(lambda: services().get(name), "the announcement")
    assert port == house.port, port
    assert set(facts) == {"id", "name", "version", "path", "tls", "auth"} and re.fullmatch("[0-9a-f]{32}", facts["id"]), facts
    assert (facts["path"], facts["tls"], facts["auth"], facts["name"]) == ("/", "0", "pair", os.uname().nodename), facts

    until(lambda: house.web_call("bridge.status").get("announced") == name, "the name in the status")

    # A restart of Avahi.
    house.end(avahi)
    avahi = begin_avahi()
    assert until(lambda: services().get(name), "the announcement after a restart of Avahi")[1] == facts

    # New settings: other machines may read.
    house.write_web(host="*", port=house.port, more="anonymous = read\n")
    house.web.send_signal(1)
    until(lambda: services().get(name, (0, {}))[1].get("auth") == "read", "the new facts")

    # The end of the bridge, and a namesake when it comes back.
    house.end(house.web)
    until(lambda: services() == {}, "the end of the announcement")
    house.start("avahi-publish", "-s", name, TYPE, "9")
    until(lambda: name in services(), "the namesake")
    house.begin_web(host="*")
    port, again = until(lambda: services().get(name + " #2"), "the announcement beside a namesake")
    assert port == house.port and again["id"] == facts["id"]

    # With loopback only, there is nothing to announce.
    house.write_web(port=house.port)
    house.web.send_signal(1)
    until(lambda: list(services()) == [name], "no announcement of an address of loopback")


if __name__ == "__main__":
    from house import House

    place = pathlib.Path(sys.argv[2])
    place.mkdir()
    other = House(sys.argv[1], str(place), begins=False)
    try:
        inside(other, place)
    finally:
        other.close()
        for log in place.glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()[-2000:]}")
