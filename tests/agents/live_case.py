"""What tests of all agents begin alike: programs that end with their test, and daemons that they dial."""
import os
import subprocess
import time

import plive


class LiveCase:
    """Beside unittest.TestCase. `folder_of_sockets` is a temporary folder of the test's own making."""
    folder_of_sockets = ""

    def setUp(self):
        self.running, self.daemons = [], []
        self.addCleanup(self.end)

    def end(self):
        for one in self.running:
            if one.poll() is None:
                one.kill()
                one.wait()
            for pipe in (one.stdout, one.stderr):
                if pipe is not None:
                    pipe.close()
        for one in self.daemons:
            one.close()

    def daemon(self, **given):
        """One that is dialled at its `target`: over TCP where it has a token, else by a socket."""
        path = None if given.get("token") else os.path.join(self.folder_of_sockets, f"{time.monotonic_ns()}.sock")
        one = plive.Daemon(path=path, **given)
        self.daemons.append(one)
        return one

    def begin(self, command, **given):
        one = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **given)
        self.running.append(one)
        return one
