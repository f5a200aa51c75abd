#!/usr/bin/python3
"""A bad network in front of a server: passes requests on, and at random cuts them, keeps the answer to itself, or delivers
them long after their sender gave up.

    rough_proxy.py PORT TARGET_PORT SEED SHARE

SHARE of the requests (0 to 1) is treated badly. Prints what it did when it is told to end (SIGTERM).
"""
import collections
import random
import signal
import socket
import sys
import threading
import time

port, target, seed, share = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
rng = random.Random(seed)
did = collections.Counter()


def whole_request(client):
    """All that the client sends of one request, which is to be its last on this connection."""
    data = b""
    client.settimeout(5)
    try:
        while part := client.recv(65536):
            data += part
            head, found, body = data.partition(b"\r\n\r\n")
            length = [int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length")]
            if found and length and len(body) >= length[0]:
                break
    except OSError:
        pass
    first, _, rest = data.partition(b"\r\n")
    return first + b"\r\nConnection: close\r\n" + rest


def answer(server):
    data = b""
    server.settimeout(10)
    try:
        while part := server.recv(65536):
            data += part
    except OSError:
        pass
    return data


def serve(client, how):
    with client:
        data = whole_request(client)
        if how == "late":  # the client hears nothing and goes; the request arrives all the same
            time.sleep(rng.uniform(0.3, 2.5))
            client.close()
        try:
            with socket.create_connection(("127.0.0.1", target)) as server:
                if how == "cut":
                    server.sendall(data[:rng.randrange(len(data))])
                    return
                server.sendall(data)
                said = answer(server)
            if how == "good":
                client.sendall(said)  # otherwise it is done, but nobody hears of it
        except OSError:
            pass


def end(*_):
    print(dict(did), flush=True)
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
listener = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = listener.accept()
    how = rng.choice(["late", "cut", "mute"]) if rng.random() < share else "good"
    did[how] += 1
    threading.Thread(target=serve, args=(client, how), daemon=True).start()
