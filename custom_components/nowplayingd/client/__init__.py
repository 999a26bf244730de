"""Client of nowplaying-web: JSON-RPC over a WebSocket, and the paths for pairing, sounds and pictures.

It does not import Home Assistant. The wire is described in nowplayingd-protocol(7) and nowplaying-web(1).
"""

from .access import Access
from .address import BoxAddress
from .clock import BoxClock
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
from .socket import BoxSocket

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
    "SessionInfo",
    "State",
    "TooOld",
    "Unreachable",
    "WrongName",
]
