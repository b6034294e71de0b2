"""What people read about broken files: the messages are those of `broken_files.txt`, word for word."""

from tests.panel.broken_files import messages, read_messages


def test_there_are_messages_about_two_hundred_broken_files():
    assert len(read_messages()) >= 200


def test_messages_about_broken_files_are_unchanged(tmp_path):
    found, stored = messages(tmp_path), read_messages()
    assert found.keys() == stored.keys()
    assert {name: said for name, said in found.items() if said != stored[name]} == {}
