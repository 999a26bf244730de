"""Names that moved between Home Assistant 2024.3 and today."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from homeassistant.components.media_player import BrowseMedia, MediaPlayerEntityFeature

if TYPE_CHECKING:
    from homeassistant.components.zeroconf import ZeroconfServiceInfo
    from homeassistant.data_entry_flow import FlowResult as ConfigFlowResult
    from homeassistant.helpers.device_registry import DeviceInfo
else:
    try:
        from homeassistant.helpers.service_info.zeroconf import ZeroconfServiceInfo
    except ImportError:
        from homeassistant.components.zeroconf import ZeroconfServiceInfo
    from homeassistant.helpers.device_registry import DeviceInfo

    ConfigFlowResult = dict[str, Any]

if TYPE_CHECKING:
    HAS_SEARCH = True
else:
    HAS_SEARCH = hasattr(MediaPlayerEntityFeature, "SEARCH_MEDIA")

# 2025.4 and later.
SEARCH_MEDIA = getattr(MediaPlayerEntityFeature, "SEARCH_MEDIA", MediaPlayerEntityFeature(0))


@dataclass(kw_only=True, frozen=True)
class _SearchMediaQuery:
    """A query of the media browser, for versions of Home Assistant without one."""

    search_query: str
    media_content_type: str | None = None
    media_content_id: str | None = None
    media_filter_classes: list[str] | None = None


@dataclass(kw_only=True, frozen=True)
class _SearchMedia:
    """The answer to a query of the media browser, for versions of Home Assistant without one."""

    version: int = field(default=1)
    result: list[BrowseMedia]


if TYPE_CHECKING:
    SearchMedia = _SearchMedia
    SearchMediaQuery = _SearchMediaQuery
else:
    try:
        from homeassistant.components.media_player import SearchMedia, SearchMediaQuery
    except ImportError:
        SearchMedia = _SearchMedia
        SearchMediaQuery = _SearchMediaQuery

__all__ = [
    "HAS_SEARCH",
    "SEARCH_MEDIA",
    "ConfigFlowResult",
    "DeviceInfo",
    "SearchMedia",
    "SearchMediaQuery",
    "ZeroconfServiceInfo",
]
