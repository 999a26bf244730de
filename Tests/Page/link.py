"""A TCP link with delay and jitter between a browser and nowplaying-web; it can go silent, as a network does."""

import asyncio
import random
import threading


class Link:
    """Forwards a port of its own to another. Each piece is late by up to `jitter` seconds, in its order."""

    def __init__(self, target, jitter=0.0):
        self.target, self.jitter, self.is_silent, self.random = target, jitter, False, random.Random(1)
        # The loop itself does not keep a task that waits from being collected.
        self.tasks = set()
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        self.ready.wait(10)

    async def serve(self):
        server = await asyncio.start_server(self.accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await server.serve_forever()

    async def accept(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        # Connections that begin during a silence are silent until its end.
        while self.is_silent:
            await asyncio.sleep(0.05)
        try:
            there, back = await asyncio.open_connection("localhost", self.target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self.pump(reader, back), self.pump(there, writer), return_exceptions=True)

    async def pump(self, reader, writer):
        is_cut = False
        while data := await reader.read(1 << 16):
            # A cut connection stays cut: lost packets do not arrive later.
            is_cut = is_cut or self.is_silent
            if is_cut:
                continue
            if self.jitter:
                await asyncio.sleep(self.random.random() * self.jitter)
            writer.write(data)
        if not is_cut:
            writer.close()
