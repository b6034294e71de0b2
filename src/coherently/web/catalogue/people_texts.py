"""What letters to judges say, and the page from which people are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherently.web.catalogue.common_texts import Text

LETTERS: dict[str, Text] = {
    "letter.invitation.subject": "Your answers, please: {panel}",
    "letter.invitation": "Hello {name},\n\nyou are asked for your probabilities in the panel “{panel}”: {questions}. "
    "This link is yours alone; whoever has it answers as you, so please do not pass it on:\n\n{link}\n\n{until}"
    "You need no account, you may leave out what you do not know, and you can come back by the same link. "
    "Nobody is shown whose numbers are whose before the round closes. Whoever runs the workbench can read its "
    "database.\n",
    "letter.reminder.subject": "Reminder: {panel}",
    "letter.reminder": "Hello {name},\n\nthe panel “{panel}” still waits for your answers: {left}. {until}"
    "This is your link:\n\n{link}\n\nAs soon as you have handed in, no further reminder comes.\n",
    "letter.until": "Please answer until {when}. ",
    "letter.left": ("{count} question is open", "{count} questions are open"),
    "letter.left.hand_in": "you have answered everything, but not handed in",
    "calendar.title": "Answers due: {panel}",
    "calendar.words": "The round closes on {when}. Open {address}, or the link that you were sent.",
}

PEOPLE: dict[str, Text] = {
    "tab.people": "People",
    "people.lead": "{judges}. {missing} {mail}",
    "people.missing": ("{count} has not handed in.", "{count} have not handed in."),
    "people.mail.none": "No mail server is set up: copy the letters, and send them yourself.",
    "people.mail.here": "Nothing can be mailed: links begin with {origin}, which no other computer reaches.",
    "people.mail.ready": "Mail is sent from {sender}.",
    "people.deadline": "Deadline",
    "people.deadline.none": "The round has no end. You can set one on the board.",
    "people.deadline.closed": "The panel takes no answers now.",
    "people.deadline.words": "Open until {when}.",
    "people.calendar": "As a calendar file",
    "people.zone": "Time zone of the panel",
    "people.zone.words": "Deadlines are typed and told in this time zone. Judges see their own time beside it.",
    "people.zone.saved": "Deadlines are now told in the time zone {name}.",
    "people.judges": "Letters and mail",
    "people.address": "mail address",
    "people.address.of": "Mail address of {name}",
    "people.addresses.save": "Save the addresses",
    "people.addresses.saved": ("{count} address saved.", "{count} addresses saved."),
    "people.last": "last mail",
    "people.never": "none yet",
    "people.letter": "Letter to {name}",
    "people.letter.invitation": "Invitation",
    "people.letter.reminder": "Reminder",
    "people.letter.link": "Put the link of {name} where it says {mark}. It was shown when you invited; a new one ends the old one.",
    "people.copy": "Copy the letter to {name}",
    "people.send.invitation": ("Mail {count} invitation", "Mail {count} invitations"),
    "people.send.reminder": ("Mail {count} reminder", "Mail {count} reminders"),
    "people.sent": ("{count} mail is on its way.", "{count} mails are on their way."),
    "people.sent.none": "There was nobody to write to: everybody has had this letter, or has no address.",
    "people.again": "Send once more",
    "people.again.label": "Send the mail to {name} once more",
    "people.cancel": "Do not send",
    "people.cancel.label": "Do not send the mail to {name}",
    "people.again.done": "The mail is on its way once more.",
    "people.cancelled": "The mail is not sent.",
    "message.waiting": "{kind} waits",
    "message.sending": "{kind} is being sent",
    "message.sent": "{kind} sent",
    "message.failed": "{kind} failed",
    "message.unsure": "{kind}: not known whether it was sent",
    "message.cancelled": "{kind} not sent",
    "message.next": "Next attempt {time}.",
    "people.report": "Link to the report",
    "people.report.words": "Whoever has such a link reads what came out, and nothing else: always the newest finished version, once the panel is closed.",
    "people.report.names": "With the names of judges and what each of them said",
    "people.report.note": "For whom",
    "people.report.make": "Make a link",
    "people.report.made": "The link is shown this once:",
    "people.report.revoke": "Withdraw",
    "people.report.revoke.label": "Withdraw the link made {time}",
    "people.report.revoked": "The link does not hold any longer.",
    "people.report.with": "whole report, with names",
    "people.report.without": "numbers only, without names",
    "people.report.gone": "withdrawn",
    "people.foot": "A mail is never sent twice by itself. Where nobody knows whether one was sent, you decide.",
    "shared.title": "What came out",
    "shared.lead": "{judges} gave {forecasts} on {events}. Version {number}, as of {time}.",
    "shared.waiting": "There is no result to read yet. It appears here, by the same link.",
    "shared.before": "average",
    "shared.after": "coherent",
    "shared.gone": "This link does not hold, or no longer.",
    "shared.gone.more": "Ask who sent it for a new one.",
    "shared.foot": "The average of all judges, and the nearest numbers that fit together.",
    "letters.with_link": "Copy the letter",
}
