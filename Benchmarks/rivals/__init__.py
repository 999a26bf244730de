"""The players that nowplayingd is held against, as Debian packages them."""
import shutil

from rivals.cmus import Cmus
from rivals.mopidy import Mopidy
from rivals.mpd import MPD
from rivals.mpv import MPV

ALL = {kind.name: kind for kind in (MPD, MPV, Cmus, Mopidy)}


def found(names):
    """({name: class} of those that are installed, the names of those that are not)"""
    there = {name: ALL[name] for name in names if shutil.which(name)}
    return there, [name for name in names if name not in there]
