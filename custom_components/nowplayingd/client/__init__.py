"""Client of nowplayingd: its control socket, or nowplaying-web with the paths for pairing, sounds and pictures.

The package aionowplayingd consists of these files. They do not import Home Assistant. The wire is described in
nowplayingd-protocol(7) and nowplaying-web(1).
"""

from .access import Access
from .address import BoxAddress
from .clock import BoxClock
from .connection import Connection
from .errors import (
    BadCertificate,
    BadProof,
    BoxError,
    CallError,
    NotABox,
    NotItsAddress,
    NotPaired,
    PairingRefused,
    TooOld,
    Unreachable,
    WrongName,
)
from .http import BoxHTTP, Pairing, Picture
from .link import Delays, Link
from .model import Anchor, Command, Hello, Item, Output, SessionInfo, State
from .player import Player, pair
from .socket import BoxSocket
from .unix import UnixSocket

__all__ = [
    "Access",
    "Anchor",
    "BadCertificate",
    "BadProof",
    "BoxAddress",
    "BoxClock",
    "BoxError",
    "BoxHTTP",
    "BoxSocket",
    "CallError",
    "Command",
    "Connection",
    "Delays",
    "Hello",
    "Item",
    "Link",
    "NotABox",
    "NotItsAddress",
    "NotPaired",
    "Output",
    "Pairing",
    "PairingRefused",
    "Picture",
    "Player",
    "SessionInfo",
    "State",
    "TooOld",
    "UnixSocket",
    "Unreachable",
    "WrongName",
    "pair",
]
