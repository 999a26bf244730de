"""Home Assistant's calls to an MPD server, as a test of clients.py. Its own code runs in Tests/HomeAssistant/test_mpd.py."""
import asyncio

import mpd
import mpd.asyncio

PATIENCE = 20


def test_home_assistant(house):
    """The calls of Home Assistant's integration `mpd`, in its order and with its client."""
    house.fresh().save("evening")

    async def talk():
        client = mpd.asyncio.MPDClient()
        client.timeout, client.idletimeout = 30, None
        await client.connect(house.socket)
        commands = list(await client.commands())
        assert {"albumart", "readpicture"} <= set(commands)

        async def update():
            status, song = await client.status(), await client.currentsong()
            assert int(status["volume"]) in range(101) and {"repeat", "single", "random"} <= set(status)
            return status, song
        assert [row["playlist"] for row in await client.listplaylists()] == ["evening"]
        # A list as the source.
        await client.clear()
        await client.load("evening")
        await client.play()
        status, song = await update()
        assert status["state"] == "play" and song["title"] == "Song 0" and float(status["elapsed"]) >= 0
        # A missing picture is nothing to warn of: no bytes, or the number 50.
        assert not await client.readpicture(song["file"])
        try:
            await client.albumart(song["file"])
            raise AssertionError("there is a picture")
        except mpd.CommandError as error:
            assert error.errno is mpd.FailureResponseCode.NO_EXIST, error
        # Its step of the volume goes beyond 100.
        await client.setvol(100)
        client.setvol(105)
        assert (await update())[0]["volume"] == "100"
        await client.setvol(40)
        for repeat, single in ((1, 1), (1, 0), (0, 0)):
            await client.repeat(repeat)
            await client.single(single)
            status = (await update())[0]
            assert (status["repeat"], status["single"]) == (str(repeat), str(single)), status
        await client.random(1)
        await client.random(0)
        await client.pause(1)
        assert (await update())[0]["state"] == "pause"
        await client.pause(0)
        await client.seekcur(12)
        assert 12 <= float((await update())[0]["elapsed"]) < 20
        await client.next()
        await client.previous()
        await client.stop()
        assert (await update())[0]["state"] == "stop"
        # What text to speech and its media source send.
        await client.clear()
        await client.add("http://127.0.0.1:9/speech.mp3")
        assert (await update())[0]["playlistlength"] == "1"
        client.disconnect()
    asyncio.run(asyncio.wait_for(talk(), PATIENCE))
