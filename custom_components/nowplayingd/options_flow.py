"""Options of a box. They apply from the next call on; nothing is loaded again."""

from __future__ import annotations

from typing import Any

import voluptuous as vol

from homeassistant.config_entries import ConfigEntry, OptionsFlow
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    SelectSelector,
    SelectSelectorConfig,
)

from .compat import ConfigFlowResult
from .const import OPTION_DUCK_TO, OPTION_POLICY, OPTION_SOURCES, POLICIES, POLICY_OF_BOX


class BoxOptionsFlow(OptionsFlow):
    """One form."""

    def __init__(self, entry: ConfigEntry) -> None:
        """Take the entry whose options these are."""
        self._entry = entry

    async def async_step_init(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the form, or keep the options."""
        if user_input is not None:
            return self.async_create_entry(title="", data=user_input)
        schema = vol.Schema(
            {
                vol.Required(OPTION_POLICY, default=POLICY_OF_BOX): SelectSelector(
                    SelectSelectorConfig(options=[POLICY_OF_BOX, *POLICIES], translation_key="policy")
                ),
                vol.Optional(OPTION_DUCK_TO): NumberSelector(
                    NumberSelectorConfig(min=-96, max=0, step=1, unit_of_measurement="dB")
                ),
                vol.Required(OPTION_SOURCES, default=True): BooleanSelector(),
            }
        )
        return self.async_show_form(
            step_id="init", data_schema=self.add_suggested_values_to_schema(schema, self._entry.options)
        )
