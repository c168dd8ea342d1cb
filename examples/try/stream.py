"""A stream over TCP whose sender is paced by a variable: an application with a setting.

``stream.py serve`` on one host, ``PACE_MB_S=110 stream.py send HOST [MB]`` on the other prints
``rate: N MB/s``. Without PACE_MB_S nothing paces it. Standard library only.
"""

import os
import socket
import sys
import time

PORT = 5099
SO_MAX_PACING_RATE = 47  # asm-generic/socket.h; not in the socket module


def serve() -> None:
    with socket.create_server(("", PORT)) as listening:
        while True:
            connection, _ = listening.accept()
            with connection:
                left = int.from_bytes(connection.recv(8), "big")
                while left > 0:
                    left -= len(connection.recv(1 << 20)) or left
                connection.sendall(b"1")


def send(host: str, megabytes: float) -> None:
    size = int(megabytes * 1e6)
    with socket.create_connection((host, PORT), timeout=60) as connection:
        if pace := os.environ.get("PACE_MB_S"):
            rate = int(float(pace) * 1e6)
            connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
        connection.sendall(size.to_bytes(8, "big"))
        begun = time.monotonic()
        connection.sendall(bytes(size))
        connection.recv(1)
        print(f"rate: {size / 1e6 / (time.monotonic() - begun):.2f} MB/s")


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else send(sys.argv[2], float((sys.argv[3:] or ["16"])[0]))
