"""Another job: UDP datagrams of ``RATE`` bytes/s from ``SENDER`` to ``RECEIVER`` until it is
ended.
"""

import socket
import sys
import time

SIZE = 1400
SLICE_S = 0.002


def send(origin: str, target: str, bytes_per_s: float) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        plug.bind((origin, 0))
        begin, sent = time.monotonic(), 0
        while True:
            due = (time.monotonic() - begin) * bytes_per_s
            while sent < due:
                plug.sendto(bytes(SIZE), (target, 9))
                sent += SIZE
            time.sleep(SLICE_S)


if __name__ == "__main__":
    send(sys.argv[1], sys.argv[2], float(sys.argv[3]))
