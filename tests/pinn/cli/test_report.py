"""`report` and `watch`: a run as one page."""

import shutil
import socket
import sys
from pathlib import Path

import pytest

from pinn.cli import main
from pinn.report import page
from pinn.report.watch import WatchServer


def test_report_writes_the_page_into_the_run_and_says_where(finished, folder, capsys):
    shutil.copytree(finished, "run")
    assert main(["report", "run"]) == 0
    assert capsys.readouterr().out == "run/report.html\n"
    text = Path("run/report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "u_t - k*u_xx" in text
    # It goes with the run that it tells of.
    assert main(["train", "heat.yaml", "--out", "run", "--overwrite", "--quiet"]) == 0
    assert not Path("run/report.html").exists()


def test_report_writes_it_where_it_is_told(finished, folder, capsys):
    assert main(["report", str(finished), "--out", "page.html"]) == 0
    assert Path("page.html").stat().st_size > 1_000_000


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["report", "nowhere"], "expected a run directory"),
        (["report", "heat.yaml"], "expected a run directory"),
        (["watch", "heat.yaml"], "it is a file"),
    ],
)
def test_what_is_no_run_is_refused(folder, capsys, arguments, said):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_a_name_that_is_no_page_is_refused(finished, folder, capsys):
    assert main(["report", str(finished), "--out", "page.pdf"]) == 2
    assert "ends in .html" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_a_disk_failure(finished, folder, capsys):
    assert main(["report", str(finished), "--out", "no/page.html"]) == 4
    assert "page.html" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "watch"])
def test_without_plotly_a_sentence_says_what_to_install(
    finished, folder, capsys, monkeypatch, command
):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    page._plotly.cache_clear()
    assert main([command, str(finished)]) == 2
    page._plotly.cache_clear()
    assert "pip install 'pinn[report]'" in capsys.readouterr().err


def test_ctrl_c_ends_the_watching_with_success(finished, folder, capsys, monkeypatch):
    def interrupted(server):
        raise KeyboardInterrupt

    monkeypatch.setattr(WatchServer, "serve_forever", interrupted)
    assert main(["watch", str(finished)]) == 0
    said = capsys.readouterr().err
    assert "the run has ended (step limit); its page is on http://127.0.0.1:" in said
    assert "watched" not in said and "no run is there yet" not in said
    assert main(["watch", "to-come"]) == 0
    said = capsys.readouterr().err
    assert "no run is there yet; the page waits for it" in said
    assert "to-come is watched on http://127.0.0.1:" in said and "ended" not in said


def test_a_port_that_is_taken_is_told_of(finished, folder, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["watch", str(finished), "--port", port]) == 2
    assert f"--port {port}: Address already in use" in capsys.readouterr().err


def test_a_port_that_is_none_is_wrong_usage(folder, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["watch", "run", "--port", "70000"])
    assert ended.value.code == 2
    assert "expected a port from 0 to 65535, got '70000'" in capsys.readouterr().err
