"""Whether a daemon listens on a socket: its name is there a moment before."""
import socket
import time


def listens(path):
    with socket.socket(socket.AF_UNIX) as knock:
        try:
            knock.connect(path)
        except OSError:
            return False
    return True


def wait_until_it_listens(path, seconds=30, every=0.01):
    end = time.monotonic() + seconds
    while not listens(path):
        if time.monotonic() > end:
            raise TimeoutError(f"nobody listens on {path}")
        time.sleep(every)
