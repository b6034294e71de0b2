"""A proxy between nodes that loses frames: `python lossy_proxy.py LOSS SEED HOST:PORT=HOST:PORT ...`.

It knows where frames begin and end, and nothing else: what it passes on is unchanged.
"""

import asyncio
import contextlib
import random
import sys

HELLO, WELCOME, PROOF, LENGTH = 62, 70, 32, 4


class LossyProxy:
    def __init__(self, loss, seed):
        self.loss, self.random = loss, random.Random(seed)
        self.passed = self.lost = 0

    async def serve(self, listen, target):
        async def answer(reader, writer):
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                there, onwards = await asyncio.open_connection(*target)
                try:
                    await asyncio.wait_for(self.carry(reader, writer, there, onwards), 120)
                finally:
                    onwards.close()
            writer.close()

        return await asyncio.start_server(answer, *listen)

    async def carry(self, reader, writer, there, onwards):
        onwards.write(await reader.readexactly(HELLO))
        writer.write(await there.readexactly(WELCOME))
        onwards.write(await reader.readexactly(PROOF))
        gone = asyncio.create_task(there.read(1))
        frames = asyncio.create_task(self.frames(reader, onwards))
        await asyncio.wait({gone, frames}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        frames.cancel()
        await asyncio.gather(gone, frames, return_exceptions=True)

    async def frames(self, reader, onwards):
        while True:
            length = await reader.readexactly(LENGTH)
            frame = length + await reader.readexactly(int.from_bytes(length))
            if self.random.random() < self.loss:
                self.lost += 1
                continue
            self.passed += 1
            onwards.write(frame)
            await onwards.drain()


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


async def main(loss, seed, pairs):
    proxy = LossyProxy(loss, seed)
    for pair in pairs:
        listen, _, target = pair.partition("=")
        await proxy.serve(address(listen), address(target))
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(proxy.passed, proxy.lost, flush=True)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
