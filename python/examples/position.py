"""Prints the position of what plays, computed here; each key event begins a new line."""

import asyncio

from aionowplayingd import Player


async def main() -> None:
    async with Player.unix() as player:
        while True:
            news = await player.changed(timeout=0.1 if player.state.is_moving else None)
            state = news or player.state
            title = state.item.title if state.item else "nothing"
            print("\n" if news else "\r", f"{state.cause}: {title} {player.position or 0:.3f} s", end="", sep="", flush=True)


asyncio.run(main())
