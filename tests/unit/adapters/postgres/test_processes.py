"""Telling whether a process is alive."""

import os
import subprocess
import sys

from yuzui.adapters.postgres.processes import host_id, start_time


def test_this_process_is_alive_and_its_start_does_not_change() -> None:
    assert start_time(os.getpid()) == start_time(os.getpid()) != ""
    assert host_id() == host_id()


def test_an_ended_process_is_gone_also_before_its_parent_has_asked() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert start_time(child.pid) != ""
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
        assert start_time(child.pid) == ""
    assert start_time(child.pid) == ""
