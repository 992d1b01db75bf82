"""The page of a report, looked at without a browser."""

import copy
import dataclasses
import re
import shutil
import sys
from html.parser import HTMLParser

import pytest

import pinn
from pinn.estimates import ErrorEstimate
from pinn.files import DamagedFile
from pinn.report import page as page_module
from pinn.report import write_report
from pinn.report.page import page, texts_of
from pinn.report.subject import Subject
from pinn.runs import Run
from pinn.solution.recovery import Recovery

from .conftest import HOSTILE, data_in, run_of


class Seen(HTMLParser):
    """Elements, and the text that is shown, as a parser of its own finds them."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.text, self._open = [], "", []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data):
        if not self._open:
            self.text += f" {data}"


def seen(path):
    return Seen(path.read_text(encoding="utf-8"))


def pictures(path):
    return [given for tag, given in seen(path).tags if tag == "img"]


def test_a_run_is_told_in_full(heat, heat_run):
    path = write_report(heat_run)
    assert path == heat_run.directory / "report.html"
    found = seen(path)
    said = " ".join(found.text.split())
    for piece in (
        "heat", "step limit", "u_t - k*u_xx", "initial u", "sin(x)", "0.5", "exp(-k*t)*sin(x)",
        "exactly", heat.report.message, "adam", "a processor", "9.9.9", "not installed",
        "problem: name: heat",
    ):  # fmt: skip
        assert piece in said, piece
    error = f"{heat.report.rel_l2['u']:.3g}"
    assert error in said
    assert [given["id"] for tag, given in found.tags if tag == "section"] == [
        "results", "fields", "coefficients", "problem", "training", "figures", "config", "machine",
    ]  # fmt: skip


def test_a_page_refers_to_nothing_outside_of_it(heat_run):
    figure = heat_run.figure_path("field_u")
    figure.write_bytes(b"\x89PNG\r\n\x1a\n rest of a picture")
    found = seen(write_report(heat_run))
    places = [
        value for _, given in found.tags
        for key, value in given.items() if key in ("src", "href", "action", "srcset", "data")
    ]  # fmt: skip
    assert any(value.startswith("data:image/png;base64,") for value in places)
    assert all(value.startswith(("data:", "#")) for value in places)
    (policy,) = [
        given["content"] for tag, given in found.tags
        if given.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert "'unsafe-inline'" not in rules["script-src"] and "'sha256-" in rules["script-src"]


def test_texts_of_others_are_shown_as_they_are_and_never_run(heat, tmp_path):
    report = dataclasses.replace(heat.report, message=HOSTILE, warnings=(HOSTILE,))
    solution = pinn.Solution(heat.experiment, heat.theta, report)
    run = run_of(solution, tmp_path / "<img src=x onerror=alert(1)>")
    run.log({
        "step": 10, "stage": HOSTILE, "loss": 0.5, "losses": {HOSTILE: 0.5},
        "rel_l2": {HOSTILE: 0.5},
    })  # fmt: skip
    path = write_report(run, tmp_path / "page.html")
    found = seen(path)
    assert [given for tag, given in found.tags if tag == "img"] == []
    scripts = [given for tag, given in found.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert not any(key.startswith("on") for _, given in found.tags for key in given)
    assert found.text.count(HOSTILE) >= 3  # message, warning, processor
    assert "</script><script>document.title = 'owned'</script>" in found.text  # of the config
    assert "<img src=x onerror=alert(1)>" in found.text
    text = path.read_text(encoding="utf-8")
    series = data_in(text)["curves"]["panels"][0]["series"]
    assert HOSTILE in [one["name"] for one in series]
    numbers = text[text.index('id="data">') : text.index("</script>", text.index('id="data">'))]
    assert not set("\u2028\u2029<&") & set(numbers.partition(">")[2])


def test_of_a_run_that_was_cut_short_the_checkpoint_is_shown(heat, heat_run):
    heat_run.summary_path.unlink()
    heat_run.solution_path.rename(heat_run.checkpoint_path)
    text = write_report(heat_run).read_text(encoding="utf-8")
    assert len(data_in(text)["fields"]["groups"]) == 1
    assert "cut short" in Seen(text).text


def test_a_run_without_a_solution_has_a_page_that_says_so(heat_run):
    heat_run.solution_path.unlink()
    text = write_report(heat_run).read_text(encoding="utf-8")
    assert data_in(text)["fields"]["groups"] == []
    assert data_in(text)["curves"]["steps"]
    assert "No solution was saved yet" in Seen(text).text


def test_a_solution_that_cannot_be_read_leaves_the_rest_of_the_page(heat_run):
    heat_run.solution_path.write_bytes(b"no npz")
    text = write_report(heat_run).read_text(encoding="utf-8")
    assert "The solution cannot be read" in Seen(text).text
    assert data_in(text)["curves"]["steps"]


def test_damaged_metrics_are_named(heat_run):
    heat_run.metrics_path.write_text("{}\n")
    with pytest.raises(DamagedFile, match=r"metrics\.jsonl:1"):
        write_report(heat_run)


def test_a_solution_alone_has_a_page(pair, tmp_path):
    text = write_report(pair, tmp_path / "pair.html").read_text(encoding="utf-8")
    said = " ".join(Seen(text).text.split())
    assert "coefficient" in said and f"{pair.parameters['k']:.6g}"[:6] in said
    assert [one["name"] for one in data_in(text)["fields"]["groups"][0]["unknowns"]] == ["a", "b"]


def test_numbers_that_are_not_to_be_trusted_are_marked(pair):
    doubted = copy.copy(pair)
    doubted.report = dataclasses.replace(
        pair.report, unsolved=True, recovery=Recovery(standard_errors={"k": 0.0123}),
        error_estimate=ErrorEstimate({"a": 1.3, "b": 0.02}, {"a": 0.018, "b": 0.03}),
    )  # fmt: skip
    told = page_module.texts_of(Subject.of_solution(doubted))
    results, found = Seen(told["results-text"]).text, Seen(told["coefficients-text"]).text
    assert "1.3 ?" in results and "0.018 ?" in results
    assert "0.02 ?" not in results and "0.03 ?" not in results
    assert "the maximum is no bound" in results
    assert "0.0123 ?" in found and "which this is not" in found
    curves = page_module.curves_of(Subject.of_solution(doubted))
    assert all(panel["band"] is None for panel in curves["panels"])


def test_a_reference_of_another_problem_is_told_of(pair):
    other = copy.copy(pair)
    other.report = dataclasses.replace(
        pair.report, rel_l2={"a": 0.25}, max_error={"a": 0.2},
        error_estimate=ErrorEstimate({"a": 1e-9, "b": 1e-9}, {"a": 1e-9, "b": 1e-9}),
    )  # fmt: skip
    told = Seen(page_module.texts_of(Subject.of_solution(other))["results-text"]).text
    assert "the reference of a differs from the solution by 2.5e-01" in " ".join(told.split())


def test_the_history_of_a_loaded_file_may_be_anything(heat, tmp_path):
    """It is whatever JSON the file held: what is no record of a step is left out."""
    report = dataclasses.replace(heat.report, history=[{"loss": 1.0}, *heat.report.history])
    solution = pinn.Solution(heat.experiment, heat.theta, report)
    text = write_report(solution, tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_in(text)["curves"]["steps"] == [one["step"] for one in heat.report.history]


def test_where_the_page_goes_and_what_is_refused(heat, heat_run, tmp_path):
    assert write_report(str(heat_run.directory), tmp_path / "a.html") == tmp_path / "a.html"
    with pytest.raises(ValueError, match=r"ends in \.html, got 'b\.txt'"):
        write_report(heat, "b.txt")
    with pytest.raises(FileNotFoundError, match="expected a run directory"):
        write_report(tmp_path / "nowhere", tmp_path / "a.html")


def test_without_plotly_a_sentence_says_what_to_install(heat, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    page_module._plotly.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'pinn\[report\]'"):
        write_report(heat, tmp_path / "page.html")
    page_module._plotly.cache_clear()
    assert not (tmp_path / "page.html").exists()


def test_a_page_stays_small_whatever_it_has_to_show(plate, tmp_path):
    run = run_of(plate, tmp_path / "plate-0")
    for name in ("field_u", "history", "slices_u"):
        run.figure_path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(600_000))
    path = write_report(run)
    assert len(pictures(path)) == 1
    assert "no room for history, slices_u: see the folder figures" in seen(path).text
    assert path.stat().st_size < 8_000_000


def test_what_a_link_in_place_of_a_figure_points_to_is_not_shown(heat_run, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n secret")
    heat_run.figure_path("field_u").symlink_to(secret)
    assert pictures(write_report(heat_run)) == []


def test_a_copy_without_its_marker_is_not_taken_for_running(heat_run, tmp_path):
    shutil.copytree(
        heat_run.directory, tmp_path / "copy", ignore=shutil.ignore_patterns(".pinn-run")
    )
    assert Subject.of_run(Run.open(tmp_path / "copy")).state == "step limit"


def test_a_page_that_follows_a_run_may_ask_its_own_server(heat):
    text = page(texts_of(Subject.of_solution(heat)), None)
    assert data_in(text) is None
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)', text)
    assert "connect-src &#x27;self&#x27;" in policy
