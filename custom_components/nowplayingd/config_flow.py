"""Setup of a box: by its address or by discovery, with a pairing code if the box requires one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigEntry, ConfigFlow, OptionsFlow
from homeassistant.const import CONF_HOST, CONF_PATH, CONF_PORT, CONF_TOKEN, CONF_VERIFY_SSL
from homeassistant.core import callback
from homeassistant.data_entry_flow import AbortFlow
from homeassistant.helpers.aiohttp_client import async_get_clientsession

from .client import (
    Access,
    BadCertificate,
    BadProof,
    BoxAddress,
    BoxError,
    BoxHTTP,
    BoxSocket,
    Hello,
    NotABox,
    NotItsAddress,
    NotPaired,
    PairingRefused,
    TooOld,
    WrongName,
)
from .client.address import DEFAULT_PORT, ROOT, host_of, path_of
from .client.values import text
from .compat import ConfigFlowResult, ZeroconfServiceInfo
from .const import CLIENT_NAME, CONF_CODE, CONF_CONFIRMED, CONF_TLS, CONF_UNCONFIRMED, DOMAIN, PROTOCOL
from .data import address_in, loaded_boxes, place_in
from .options_flow import BoxOptionsFlow

_ERRORS: dict[type[BoxError], str] = {
    BadCertificate: "bad_certificate",
    BadProof: "bad_proof",
    NotABox: "not_a_box",
    NotPaired: "not_paired",
    PairingRefused: "invalid_code",
    TooOld: "too_old",
    WrongName: "wrong_name",
}


def _word(error: BoxError) -> str:
    """Return the key of the words for a failure."""
    return _ERRORS.get(type(error), "cannot_connect")


def _address_schema(known: Mapping[str, Any]) -> vol.Schema:
    return vol.Schema(
        {
            vol.Required(CONF_HOST, default=known.get(CONF_HOST, vol.UNDEFINED)): str,
            vol.Required(CONF_PORT, default=known.get(CONF_PORT, DEFAULT_PORT)): vol.All(int, vol.Range(1, 65535)),
            # A default would put the old path into a field that the owner has emptied.
            vol.Optional(CONF_PATH, description={"suggested_value": known.get(CONF_PATH, ROOT)}): str,
            vol.Required(CONF_TLS, default=known.get(CONF_TLS, False)): bool,
            vol.Required(CONF_VERIFY_SSL, default=known.get(CONF_VERIFY_SSL, True)): bool,
        }
    )


_CODE_SCHEMA = vol.Schema({vol.Required(CONF_CODE): str})


class BoxConfigFlow(ConfigFlow, domain=DOMAIN):
    """The steps of a setup."""

    VERSION = 1

    def __init__(self) -> None:
        """Begin without an address."""
        self._data: dict[str, Any] = {}
        self._name: str | None = None
        # The entry that a new pairing or a new address is for.
        self._entry: ConfigEntry | None = None
        self._success = ""

    @staticmethod
    @callback
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        """Return the flow of the options."""
        return BoxOptionsFlow(config_entry)

    # MARK: Steps

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the address."""
        return await self._ask_address("user", user_input)

    async def async_step_reconfigure(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for another address of the same box."""
        self._begin_change("reconfigure_successful")
        return await self._ask_address("reconfigure", user_input)

    async def async_step_reauth(self, entry_data: Mapping[str, Any]) -> ConfigFlowResult:
        """Pair again, as the box does not know the token; or confirm an address that the box does not know as its own."""
        self._begin_change("reauth_successful")
        if entry_data.get(CONF_UNCONFIRMED, False):
            return await self.async_step_move()
        return await self.async_step_pair()

    async def async_step_zeroconf(self, discovery_info: ZeroconfServiceInfo) -> ConfigFlowResult:
        """Take a box that has announced itself."""
        facts = discovery_info.properties
        path = path_of(facts.get("path") or ROOT)
        if path is None:
            # No nowplaying-web announces such a path.
            return self.async_abort(reason="invalid_path")
        found = {CONF_HOST: discovery_info.host, CONF_PORT: discovery_info.port or DEFAULT_PORT, CONF_PATH: path}
        self._data = {**found, CONF_TLS: facts.get("tls") == "1", CONF_VERIFY_SSL: True}
        self._name = text(facts.get("name"), 64) or text(discovery_info.hostname.removesuffix(".local."), 64)
        box_id = text(facts.get("id"), 64)
        if box_id is None:
            self._abort_if_place_configured()
        else:
            self._adopt(box_id, discovery_info)
            entry = await self.async_set_unique_id(box_id)
            for box in loaded_boxes(self.hass):
                if box.entry.unique_id == box_id:
                    box.wake()
            # An entry that the owner has hidden has no address.
            if entry is not None and CONF_HOST in entry.data and place_in(entry.data) != place_in(found):
                return await self._follow(entry, found)
            self._abort_if_unique_id_configured()
        self.context["title_placeholders"] = {"name": self._name or discovery_info.host}
        return await self.async_step_confirm()

    async def async_step_confirm(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask if the found box should be added."""
        errors: dict[str, str] = {}
        if user_input is not None:
            try:
                return await self._try()
            except BoxError as error:
                errors["base"] = _word(error)
        return self.async_show_form(
            step_id="confirm", errors=errors, description_placeholders={"name": self._name or "", "host": self._data[CONF_HOST]}
        )

    async def async_step_move(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask if an address that the box does not know as its own leads to it."""
        errors: dict[str, str] = {}
        if user_input is not None:
            self._data[CONF_CONFIRMED] = True
            try:
                return await self._try()
            except BoxError as error:
                errors["base"] = _word(error)
        assert self._entry is not None
        return self.async_show_form(
            step_id="move",
            errors=errors,
            description_placeholders={
                "name": self._entry.title,
                "address": str(self._address.base),
            },
        )

    async def async_step_pair(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Ask for the code that `nowplayingctl pair` shows."""
        errors: dict[str, str] = {}
        if user_input is not None:
            session = async_get_clientsession(self.hass, self._address.verify)
            code = "".join(filter(str.isdigit, user_input[CONF_CODE]))
            name = f"{CLIENT_NAME} ({self.hass.config.location_name})"
            try:
                paired = await BoxHTTP(session, self._address, None).pair(code, name)
                self._data[CONF_TOKEN] = paired.token
                return await self._finish(await self._hello_after_pairing())
            except BoxError as error:
                errors["base"] = _word(error)
        return self.async_show_form(
            step_id="pair",
            data_schema=_CODE_SCHEMA,
            errors=errors,
            description_placeholders={"host": self._data[CONF_HOST], "command": "nowplayingctl pair"},
        )

    # MARK: Parts of the steps

    def _adopt(self, box_id: str, found: ZeroconfServiceInfo) -> None:
        """Give the id of a box to the entry that knows it by its address alone."""
        hosts = (found.host, found.hostname.rstrip("."), found.hostname.removesuffix(".local."))
        places = {place_in({**self._data, CONF_HOST: host}) for host in hosts}
        for entry in self._async_current_entries():
            if entry.unique_id is None and place_in(entry.data) in places:
                self.hass.config_entries.async_update_entry(entry, unique_id=box_id)
                return

    @callback
    def _abort_if_place_configured(self) -> None:
        """Abort if an entry has this host, port and path."""
        if any(place_in(entry.data) == place_in(self._data) for entry in self._async_current_entries(include_ignore=False)):
            raise AbortFlow("already_configured")

    async def _follow(self, entry: ConfigEntry, found: Mapping[str, Any]) -> ConfigFlowResult:
        """Take another host, port or path of a known box from its announcement, which anybody in the network can make.

        The box proves that the address is its own, even if it has a certificate: that of another machine may be valid, too. If
        it cannot, the owner is asked.
        """
        self._entry, self._success = entry, "reconfigure_successful"
        self._data = {CONF_TLS: False, CONF_VERIFY_SSL: True, **entry.data, **found}
        self._data.pop(CONF_CONFIRMED, None)
        if CONF_TOKEN not in self._data:
            # Nothing can be proven. A box that is there does not have to be followed.
            if any(box.entry is entry and box.is_available for box in loaded_boxes(self.hass)):
                return self.async_abort(reason="already_configured")
            return await self.async_step_move()
        session = async_get_clientsession(self.hass, self._address.verify)
        try:
            await Access(session, self._address, self._data[CONF_TOKEN], must_prove=True).way()
        except NotItsAddress:
            return await self.async_step_move()
        except BoxError:
            return self.async_abort(reason="not_proven")
        updates = dict(found)
        if CONF_CONFIRMED in entry.data:
            updates[CONF_CONFIRMED] = False
        self._abort_if_unique_id_configured(updates=updates)
        return self.async_abort(reason="already_configured")

    @property
    def _address(self) -> BoxAddress:
        return address_in(self._data)

    def _begin_change(self, success: str) -> None:
        """Begin with the data of the entry that the flow is for."""
        if self._entry is None:
            self._entry = self.hass.config_entries.async_get_entry(self.context["entry_id"])
            assert self._entry is not None
            self._data = {CONF_TLS: False, CONF_VERIFY_SSL: True, **self._entry.data}
            self._success = success

    async def _ask_address(self, step: str, user_input: dict[str, Any] | None) -> ConfigFlowResult:
        errors: dict[str, str] = {}
        if user_input is not None:
            typed = user_input.get(CONF_PATH, "").strip() or ROOT
            host, path = host_of(user_input[CONF_HOST]), path_of(typed)
            self._data = {**self._data, **user_input, CONF_HOST: host or user_input[CONF_HOST], CONF_PATH: path or typed}
            self._data.pop(CONF_CONFIRMED, None)
            if host is None:
                errors[CONF_HOST] = "invalid_host"
            if path is None:
                errors[CONF_PATH] = "invalid_path"
            try:
                if not errors:
                    return await self._try()
            except BoxError as error:
                errors["base"] = _word(error)
        return self.async_show_form(step_id=step, data_schema=_address_schema(self._data), errors=errors)

    async def _try(self) -> ConfigFlowResult:
        """Connect, and ask for a code if the box requires one."""
        try:
            hello = await self._hello()
        except NotItsAddress:
            return await self.async_step_move()
        except NotPaired:
            self._data.pop(CONF_TOKEN, None)
            return await self.async_step_pair()
        if not hello.controls and CONF_TOKEN not in self._data:
            # All callers may read this box; a paired device may also control it.
            return await self.async_step_pair()
        return await self._finish(hello)

    async def _hello(self) -> Hello:
        """Connect with the data so far, and return the greeting of the box."""
        session = async_get_clientsession(self.hass, self._address.verify)
        socket = await BoxSocket.open(session, self._address, self._data.get(CONF_TOKEN))
        reading = self.hass.async_create_task(socket.run(lambda *_: None))
        try:
            return Hello.of(await socket.call("hello", {"client": CLIENT_NAME}))
        finally:
            await socket.close()
            await reading

    async def _hello_after_pairing(self) -> Hello:
        """Connect with the token that this address has just given: its owner has named the address, and entered a code there."""
        try:
            return await self._hello()
        except NotItsAddress:
            self._data[CONF_CONFIRMED] = True
            return await self._hello()

    async def _finish(self, hello: Hello) -> ConfigFlowResult:
        """Keep the data."""
        if hello.protocol > PROTOCOL:
            return self.async_abort(reason="newer_protocol")
        if self._entry is not None:
            if hello.id is not None and self._entry.unique_id not in (None, hello.id):
                return self.async_abort(reason="wrong_box")
            return self.async_update_reload_and_abort(self._entry, data=self._data, reason=self._success)
        if hello.id is not None:
            await self.async_set_unique_id(hello.id, raise_on_progress=False)
            self._abort_if_unique_id_configured(updates={**self._data})
        self._abort_if_place_configured()
        return self.async_create_entry(title=self._name or self._data[CONF_HOST], data=self._data)
