"""The server of the page of a run that goes on."""

import http.client
import json
import threading
import urllib.request

import pytest

from pinn.report import watch
from pinn.report.page import page, texts_of
from pinn.report.subject import Subject
from pinn.report.watch import Follower, watching
from pinn.runs import Run

from .conftest import run_of


@pytest.fixture
def serve():
    servers = []

    def begun(directory):
        server = watching(directory)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        servers.append((server, thread))
        return server

    yield begun
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(server, path="/", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_the_page_and_its_numbers_are_there(heat_run, serve):
    server = serve(heat_run.directory)
    with urllib.request.urlopen(server.url) as answer:
        assert "<h1>" in answer.read().decode()
    progress = json.loads(asked(server, "/progress.json")[1])
    assert progress["curves"]["steps"] == [one["step"] for one in heat_run.metrics()]
    assert progress["texts"]["title"] == "heat"
    fields = json.loads(asked(server, "/fields.json")[1])
    assert fields["groups"][0]["unknowns"][0]["name"] == "u"


@pytest.mark.parametrize("state, said", [
    ("running", "Following the run"), ("waiting", "Following the run"),
    ("step limit", "The run has ended"), ("interrupted", "The run has ended"),
    ("cut short", "The run was cut short"),
])  # fmt: skip
def test_the_page_says_whether_the_run_goes_on(state, said):
    texts = texts_of(Subject("heat", state))
    assert texts["standing"] == said
    assert f'<div id="following" role="status">{said}</div>' in page(texts, None)


def test_curves_grow_with_the_metrics_and_what_is_known_is_not_sent_again(heat_run, serve):
    server = serve(heat_run.directory)
    answer, body = asked(server, "/progress.json")
    tag = answer.getheader("ETag")
    again, nothing = asked(server, "/progress.json", **{"If-None-Match": tag})
    assert (again.status, nothing) == (304, b"")
    heat_run.log({"step": 77, "stage": "adam", "loss": 0.5, "losses": {}})
    answer, body = asked(server, "/progress.json", **{"If-None-Match": tag})
    assert answer.status == 200
    assert json.loads(body)["curves"]["steps"][-1] == 77


def test_fields_follow_the_newest_checkpoint(heat, plate, heat_run, serve):
    server = serve(heat_run.directory)
    before = json.loads(asked(server, "/fields.json")[1])
    plate.save(heat_run.directory / "solution.npz")
    after = json.loads(asked(server, "/fields.json")[1])
    names = [[axis["name"] for axis in one["groups"][0]["axes"]] for one in (before, after)]
    assert names == [["t", "x"], ["x", "y"]]


def test_a_run_that_is_still_to_come_is_waited_for(heat, tmp_path, serve):
    server = serve(tmp_path / "run")
    progress = json.loads(asked(server, "/progress.json")[1])
    assert "No run is there yet" in progress["texts"]["results-text"]
    run_of(heat, tmp_path / "run")
    progress = json.loads(asked(server, "/progress.json")[1])
    assert progress["texts"]["title"] == "heat"
    assert json.loads(asked(server, "/fields.json")[1])["groups"]


def test_files_that_cannot_be_read_are_told_of_on_the_page(heat_run, serve):
    server = serve(heat_run.directory)
    heat_run.metrics_path.write_text("{}\n")
    progress = json.loads(asked(server, "/progress.json")[1])
    assert "metrics.jsonl:1: expected" in progress["texts"]["results-text"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "", "[::1]"]
)
def test_a_name_that_is_not_this_machines_is_refused(heat_run, serve, host):
    server = serve(heat_run.directory)
    for path in ("/", "/progress.json", "/fields.json"):
        answer, body = asked(server, path, Host=host.format(port=server.server_port))
        assert answer.status == 403
        assert b"heat" not in body.replace(server.url.encode(), b"")
    assert asked(server, Host=f"localhost:{server.server_port}")[0].status == 200


@pytest.mark.parametrize(
    "path", ["/config.yaml", "/../heat-0/config.yaml", "//etc/passwd", "/fields.json?x=1", "/%2e"]
)
def test_no_path_names_a_file(heat_run, serve, path):
    answer, body = asked(serve(heat_run.directory), path)
    assert (answer.status, body) == (404, b"There is nothing of this name.\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
def test_only_get_is_answered(heat_run, serve, method):
    assert asked(serve(heat_run.directory), method=method)[0].status == 501


def test_only_this_machine_is_served_and_no_page_may_frame_it(heat_run, serve):
    server = serve(heat_run.directory)
    assert server.server_address[0] == "127.0.0.1"
    answer, _ = asked(server)
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert answer.getheader("Access-Control-Allow-Origin") is None


def test_nothing_is_computed_again_while_no_file_changes(heat_run, monkeypatch):
    made = []
    monkeypatch.setattr(watch, "fields_of", lambda *_: made.append(1) or {})
    follower = Follower(heat_run.directory)
    for _ in range(3):
        follower.fields()
    assert len(made) == 1


def test_a_run_that_is_killed_is_noticed_without_a_new_line(heat_run, monkeypatch):
    heat_run.summary_path.unlink()
    now = [0.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    follower = Follower(heat_run.directory)
    held = Run.go_on(heat_run.directory)
    assert "running" in json.loads(follower.progress())["texts"]["state"]
    held.release()
    now[0] = 60.0
    assert "cut short" in json.loads(follower.progress())["texts"]["state"]
