"""Clients that send slowly, or nothing, do not keep a connection. The store plays no part in this."""

import socket
import time

from tests.web.api.service import Service, slower, until_end


def test_slow_clients_are_let_go(tmp_path):
    with Service(f"sqlite:///{tmp_path}/store.db", slower(head_seconds=0.3, body_seconds=0.3)) as service:
        with socket.create_connection(("127.0.0.1", service.port)) as head:
            head.sendall(b"GET / HTTP/1.1\r\nHost: 127.0")
            head.settimeout(10)
            assert head.recv(100) == b""
        with socket.create_connection(("127.0.0.1", service.port)) as silent:
            silent.settimeout(10)
            assert silent.recv(100) == b""
        with socket.create_connection(("127.0.0.1", service.port)) as body:
            head = b"POST /api/v1/check HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            body.sendall(head + b"Content-Length: 1000\r\n\r\n{")
            answer = until_end(body)
            assert answer.startswith("HTTP/1.1 408")
            assert "0.3 seconds" in answer
        dribble = socket.create_connection(("127.0.0.1", service.port))
        with dribble:
            dribble.settimeout(10)
            begun = time.monotonic()
            try:
                for byte in b"GET /healthz HTTP/1.1\r\n" + b"X-A: " + b"a" * 1_000:
                    dribble.sendall(bytes([byte]))
                    time.sleep(0.02)
                    if time.monotonic() - begun > 5:
                        break
                ended = dribble.recv(100) == b""
            except OSError:
                ended = True
            assert ended
