"""One TCP stream between lab nodes: ``receive ADDRESS`` prints its port, then bytes/s; ``send
ADDRESS PORT SIZE``.
"""

import socket
import sys
import time

CHUNK = 1 << 18


def receive(address: str) -> None:
    with socket.create_server((address, 0)) as server:
        print(server.getsockname()[1], flush=True)
        peer, _ = server.accept()
        buffer = memoryview(bytearray(CHUNK))
        with peer:
            # Timed from the end of the first piece, so that the connection's start is not in it.
            total, begin = 0, 0.0
            while got := peer.recv_into(buffer):
                total += got if begin else 0
                begin = begin or time.perf_counter()
            print(total / (time.perf_counter() - begin), flush=True)


def send(address: str, port: int, size: int) -> None:
    block = bytes(CHUNK)
    with socket.create_connection((address, port), timeout=120) as peer:
        for _ in range(size // CHUNK):
            peer.sendall(block)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(sys.argv[2])
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
