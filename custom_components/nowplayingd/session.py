"""The integration's copy of a session of the box."""

from __future__ import annotations

from dataclasses import dataclass, field

from .client import Command, State


@dataclass(slots=True)
class Session:
    """The last published state of a session, and its commands."""

    name: str
    state: State
    external: bool = False
    commands: dict[str, Command] = field(default_factory=dict)
    # The state for which the commands were listed.
    commands_key: tuple[object, ...] = ()

    @property
    def wanted_key(self) -> tuple[object, ...]:
        """The facts on which the list of commands depends."""
        state = self.state
        item = state.item
        return (state.instance, state.commands_version, item.id if item else None, item.duration if item else None)

    def allows(self, command: str) -> bool:
        """Return True if a command can be called now."""
        found = self.commands.get(command)
        return found is not None and found.enabled

    def take(self, state: State) -> bool:
        """Keep a state; returns False for one that is older than the present one."""
        if state.instance == self.state.instance and state.seq < self.state.seq:
            return False
        self.state = state
        return True
