"""Work for the processes of the desk in tests: functions of a module, which they can import."""

import os
import time

from coherently.errors import CoherentlyError


def double(number):
    return 2 * number


def process(_number):
    return os.getpid()


def rest(seconds, _number):
    time.sleep(seconds)
    return "rested"


def toil(seconds, _number):
    """Use the processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "toiled"


def refuse(words):
    raise CoherentlyError(words)


def die(_number):
    os._exit(1)


class Unfinished:
    """Something that more time would find more of."""

    finished = False


def begin(_number):
    return Unfinished()
