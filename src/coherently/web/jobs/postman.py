"""The postman: a thread that hands waiting mail to the mail server, each at most once."""

from __future__ import annotations

import smtplib
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from typing import TYPE_CHECKING

from coherently.web.access.logbook import LOG
from coherently.web.operations.deadlines import calendar
from coherently.web.operations.letters import LetterContext
from coherently.web.refusals import RefusedError
from coherently.web.settings import OPEN, SECURE
from coherently.web.store import StoreError

if TYPE_CHECKING:
    from coherently.web.settings import MailSettings
    from coherently.web.store import JudgeRecord, MessageRecord, Store

IDLE = 2.0
"""Seconds between two looks at the mail that waits; a change in this process wakes the postman at once."""
TIMEOUT = 20.0
"""Seconds that the mail server has for each of its answers."""
LEASE = 300.0
"""Seconds after which nobody knows what became of a mail that was being sent."""
PAUSES = (60.0, 300.0, 1_800.0, 7_200.0, 21_600.0)
"""Seconds until a mail is tried again that was not sent, one attempt after the other; then it has failed."""
LASTING = 500
"""Answers of a mail server from this number on will not change."""


class NotSentError(Exception):
    """The mail was certainly not sent; `lasts` if another attempt would not help."""

    def __init__(self, words: str, *, lasts: bool = False) -> None:
        super().__init__(words)
        self.lasts = lasts


class MaybeSentError(Exception):
    """Nobody knows whether the mail server took the mail."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A mail, and where it goes."""

    address: str
    message: EmailMessage


def write_mail(context: LetterContext, judge: JudgeRecord, sent: MessageRecord, link: str, sender: str) -> Envelope:
    """The mail of a message; each attempt at it has the same number, by which mail servers drop repetitions."""
    letter = context.letter(judge, sent.kind, link)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = sender, sent.address, letter.subject
    mail["Date"] = formatdate(localtime=False)
    domain = parseaddr(sender)[1].partition("@")[2] or "localhost"
    mail["Message-ID"] = f"<{sent.id}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(letter.text)
    with suppress(RefusedError):  # a round without an end has no file
        file = calendar(context.panel, context.round, f"{sent.origin}/sheet")
        mail.add_attachment(file.encode(), "text", "calendar", filename="deadline.ics", params={"charset": "utf-8"})
    return Envelope(sent.address, mail)


def hand_over(settings: MailSettings, envelope: Envelope) -> None:
    """Give a mail to the server; whatever goes wrong says whether it may have been sent."""
    try:
        server = _opened(settings)
    except (OSError, smtplib.SMTPException, ssl.SSLError) as error:
        raise NotSentError(_words(error), lasts=_lasts(error)) from None
    try:
        _give(server, settings, envelope)
    finally:
        with suppress(OSError, smtplib.SMTPException):
            server.quit()


def _opened(settings: MailSettings) -> smtplib.SMTP:
    if settings.security == SECURE:
        context = ssl.create_default_context()
        server: smtplib.SMTP = smtplib.SMTP_SSL(settings.host, settings.port, timeout=TIMEOUT, context=context)
    else:
        server = smtplib.SMTP(settings.host, settings.port, timeout=TIMEOUT)
    try:
        if settings.security not in (SECURE, OPEN):
            server.starttls(context=ssl.create_default_context())
        if settings.user:
            server.login(settings.user, settings.password)
    except BaseException:
        server.close()
        raise
    return server


def _give(server: smtplib.SMTP, settings: MailSettings, envelope: Envelope) -> None:
    """The three steps of SMTP: only in the last one can a mail be sent without our learning of it."""
    try:
        server.ehlo_or_helo_if_needed()
        for code, answer in (
            server.mail(parseaddr(settings.sender)[1]),
            server.rcpt(envelope.address),
        ):
            if code not in (250, 251):
                raise NotSentError(_answered(code, answer), lasts=code >= LASTING)
    except (OSError, smtplib.SMTPException) as error:
        raise NotSentError(_words(error), lasts=_lasts(error)) from None
    try:
        code, answer = server.data(envelope.message.as_bytes(policy=envelope.message.policy.clone(linesep="\r\n")))
    except smtplib.SMTPDataError as error:
        raise NotSentError(_words(error), lasts=_lasts(error)) from None
    except (OSError, smtplib.SMTPException) as error:
        raise MaybeSentError(_words(error)) from None
    if code != 250:
        raise NotSentError(_answered(code, answer), lasts=code >= LASTING)


def _lasts(error: Exception) -> bool:
    return isinstance(error, smtplib.SMTPResponseException) and error.smtp_code >= LASTING


def _words(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _answered(error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "The mail server ended the connection."
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return "The mail server offers no encryption or no login: use smtps://, or another server."
    if isinstance(error, TimeoutError):
        return "The mail server did not answer in time."
    return f"The mail server cannot be reached ({error.strerror if isinstance(error, OSError) else error})."


def _answered(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"The mail server answered {code}: {' '.join(text.split())[:300]}"


def send_next(store: Store, settings: MailSettings) -> bool:
    """Send the next mail whose time has come; False if there is none."""
    claimed = store.messages.claim(LEASE)
    if claimed is None:
        return False
    message, secret = claimed
    judge, context = store.judges.get(message.judge), LetterContext.of(store, message.panel)
    if message.round != context.round.number or not context.concerns(judge, message.kind):
        store.messages.drop_link(secret)
        store.messages.end(message.id, "cancelled", "It was no longer needed when its turn came.")
        return True
    envelope = write_mail(context, judge, message, link=f"{message.origin}/j/{secret}", sender=settings.sender)
    try:
        hand_over(settings, envelope)
    except MaybeSentError as error:
        store.messages.end(message.id, "unsure", f"{error} Nobody knows whether the mail was sent.")
    except NotSentError as error:
        store.messages.drop_link(secret)
        if error.lasts or message.attempts > len(PAUSES):
            store.messages.end(message.id, "failed", str(error))
        else:
            store.messages.put_off(message.id, str(error), PAUSES[message.attempts - 1])
    else:
        store.messages.end(message.id, "sent")
    return True


class Postman:
    """The thread of a workbench that sends mail; several workbenches on one store share the work."""

    def __init__(self, store: Store, settings: MailSettings) -> None:
        self._store, self._settings = store, settings
        self._ended, self._awake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="postman", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._forget = self._store.changes.subscribe(self._awake.set)
        self._thread.start()

    def stop(self) -> None:
        """End after the mail that is being handed over."""
        self._ended.set()
        self._awake.set()
        self._thread.join()
        self._forget()

    def _run(self) -> None:
        while not self._ended.is_set():
            self._awake.clear()
            try:
                busy = send_next(self._store, self._settings)
            except StoreError as error:
                LOG.warning("no mail sent", extra={"values": {"error": str(error)}})
                busy = False
            except Exception:
                LOG.exception("mail fault")  # the message stays claimed, and is unsure once its lease is over
                busy = False
            if not busy:
                self._awake.wait(IDLE)
