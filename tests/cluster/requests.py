#!/usr/bin/python3
"""Sends an agent what it must refuse, byte by byte, and says what came back other than it should.

    requests.py PORT refused      one of each kind of bad request
    requests.py PORT slow         40 connections that never end their request; others are answered all the while
    requests.py PORT fuzz SEED N  N requests that mutate good ones
"""
import random
import socket
import sys
import time

port, mode = int(sys.argv[1]), sys.argv[2]
wrong = []


def ask(data, patience=5):
    """What a raw request is answered with; b"" when the connection is just closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as s:
        answer = b""
        try:
            s.sendall(data)
            while True:
                got = s.recv(65536)
                if not got:
                    break
                answer += got
        except (ConnectionError, socket.timeout):
            pass
        return answer


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else 0


def get(path, headers="", method="GET"):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{headers}\r\n".encode("latin-1")


def expect(what, data, *allowed):
    answer = ask(data)
    if status(answer) not in allowed:
        wrong.append(f"{what}: {answer[:80]!r}, not {allowed}")
    for secret in b"sqlite", b"/tmp", b"SELECT ", b"agent.db":
        if secret in answer and status(answer) >= 400:
            wrong.append(f"{what}: tells {secret!r}")


def alive():
    return status(ask(get("/healthz"))) == 200


def refused():
    expect("good", get("/metrics"), 200)
    expect("HEAD", get("/metrics", method="HEAD"), 200)
    expect("method", get("/metrics", method="POST"), 405)
    expect("method", get("/metrics", method="DELETE"), 405)
    expect("body", get("/metrics", "Content-Length: 1000000000\r\n"), 413)
    expect("chunked body", get("/metrics", "Transfer-Encoding: chunked\r\n"), 413)
    expect("length and chunks", get("/metrics", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400)
    expect("NUL", get("/metrics%00secret"), 400)
    expect("newline", get("/a%0d%0aSet-Cookie:x"), 400)
    expect("half an escape", get("/a%2"), 400)
    expect("long target", get("/" + "a" * 5000), 400, 414)
    expect("longer target", get("/" + "a" * 100000), 414, 431, 0)
    expect("long header", get("/metrics", "X: " + "a" * 100000 + "\r\n"), 431, 413, 0)
    expect("many headers", get("/metrics", "".join(f"X{i}: y\r\n" for i in range(5000))), 431, 413, 0)
    expect("no Host", b"GET /metrics HTTP/1.1\r\n\r\n", 400)
    expect("another Host", b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421)
    expect("bad length", get("/metrics", "Content-Length: -1\r\n"), 400, 413, 0)
    expect("folders", get("/../../etc/passwd"), 404)
    expect("folders in escapes", get("/%2e%2e/%2e%2e/etc/passwd"), 404)
    expect("unknown metric", get("/nonsense"), 404)
    expect("unknown node", get("/cpu_avg/n9"), 404)
    expect("no question", get("/query"), 400)
    expect("bad grammar", get("/query?q=select%20cpu_avg%20n1"), 400)
    expect("SQL in it", get("/query?q=select%20cpu_avg%20from%20n1%20where%20comm%20=%20'x'%20or%201=1--"), 400)
    expect("long question", get("/query?q=" + "a" * 3000), 400, 404)
    expect("garbage", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)), 0, 400)


def slow():
    held = []
    for _ in range(40):
        s = socket.create_connection(("127.0.0.1", port))
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        held.append(s)
    begin, ended = time.time(), 0
    while held and time.time() - begin < 40:
        if not alive():
            wrong.append("others are not answered")
            break
        for s in held[:]:
            try:  # one byte now and then, so that the connection is never idle
                s.sendall(b"X")
                s.settimeout(0.001)
                got = s.recv(100)
                if b" 408 " not in got and got:
                    wrong.append(f"slow: {got!r}")
                held.remove(s)
                ended += 1
            except socket.timeout:
                pass
            except ConnectionError:
                held.remove(s)
                ended += 1
        time.sleep(0.5)
    if held:
        wrong.append(f"{len(held)} slow connections are still there")
    print(ended, "ended")


def fuzz(seed, count):
    rng = random.Random(seed)
    goods = [get("/metrics"), get("/query?q=select%20cpu_avg,runqlat_p99%20from%20n1%20over%205m%20every%2010s"),
             get("/cpu_avg,runqlat_sum"), get("/cpu_avg/n1"), get("/healthz"), get("/"),
             get("/query?q=select%20iolat_p99%20from%20*%20where%20pid%20=%201%20and%20comm%20=%20'x'")]
    pieces = [b"%00", b"%ff", b"\x00", b"\r\n", b"'", b"\"", b";", b",", b"select ", b" from ", b"*", b"9" * 30, b"/", b"?q=", b"&q=",
              b"HTTP/9.9", b"Content-Length: 3\r\n", b"\xf0\x9f\x98\x80", b"over 999999h", b"every 1ns", b"until 2"]
    for i in range(count):
        data = bytearray(rng.choice(goods))
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(data))
            kind = rng.randrange(4)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                data[at:at] = rng.choice(pieces)
            elif kind == 2:
                del data[at:at + rng.randint(1, 8)]
            else:
                data[at:at] = data[:rng.randint(1, 20)]
        answer = ask(bytes(data) + b"\r\n\r\n", patience=1)
        code = status(answer)
        if code >= 500 and code not in (503, 505) or code and not 200 <= code < 600:
            wrong.append(f"{bytes(data)!r}: {answer[:100]!r}")
        if i % 100 == 99:
            time.sleep(1)  # no more than the server lets an address ask
            if not alive():
                wrong.append(f"not alive after {bytes(data)!r}")
                break


refused() if mode == "refused" else slow() if mode == "slow" else fuzz(int(sys.argv[3]), int(sys.argv[4]))
for line in wrong[:20]:
    print(line)
sys.exit(bool(wrong))
