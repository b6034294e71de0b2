"""A real mail server for tests: it takes mail over SMTP on this machine, and can be told to refuse or to hang up."""

import email
import email.policy
import socket

from aiosmtpd.controller import Controller

from coherently.web.settings import read_mail


class Mailbox:
    """What the server was sent; `answers` are given in turn instead of taking the mail, `hang_up` ends after taking."""

    def __init__(self):
        self.mails, self.refused, self.hang_up, self.controller = [], [], False, None

    async def handle_RCPT(self, _server, _session, envelope, address, _options):  # noqa: N802
        if self.refused and self.refused[0].startswith("rcpt "):
            return self.refused.pop(0).removeprefix("rcpt ")
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, _session, envelope):  # noqa: N802
        if self.refused:
            return self.refused.pop(0)
        self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
        if self.hang_up:
            server.transport.abort()
        return "250 taken"

    def text(self, number=-1):
        return self.mails[number].get_body(("plain",)).get_content()

    @property
    def settings(self):
        return read_mail(f"smtp://127.0.0.1:{self.port}", "Panel <p@example.org>")

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port)
        self.controller.start()
        return self

    def __exit__(self, *_):
        self.controller.stop()
