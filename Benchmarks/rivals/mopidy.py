"""Mopidy through its extension for MPD's protocol, with GStreamer's output for PulseAudio."""
from rivals.mpd import MPD


class Mopidy(MPD):
    """The same words as MPD's."""

    name = "mopidy"

    def prepare(self):
        (self.folder / "mopidy.conf").write_text(f"""
[core]
cache_dir = {self.folder}/cache
config_dir = {self.folder}/config
data_dir = {self.folder}/data
[http]
enabled = false
[m3u]
enabled = false
[mpd]
enabled = true
hostname = unix:{self.path}
max_connections = 2000
connection_timeout = 86400
[file]
enabled = true
media_dirs = /
metadata_timeout = 5000
[audio]
mixer = none
output = pulsesink
[softwaremixer]
enabled = false
""")

    def command(self):
        return ["mopidy", "--config", self.folder / "mopidy.conf"]
