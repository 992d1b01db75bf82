"""What a notebook shows of problems, solutions and reports."""

import base64
import io
import pickle
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from matplotlib.image import imread

import pinn
from pinn.estimates import ErrorEstimate

SCRIPT = "<script>alert(1)</script>"


class Page(HTMLParser):
    """The tags of a piece of HTML, which are all closed, and its texts."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.texts, self.images, self.open = [], [], [], []
        self.feed(markup)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attributes))
        else:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


@pytest.fixture(scope="module")
def solution():
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1) * pinn.Time("t", 0, 1), ["u"], {"heat": "u_t - k*u_xx"},
        [
            pinn.Initial("u", "sin(pi*x)"), pinn.Dirichlet("u", 0.0, on="x=1"),
            pinn.Operator("where(x < 0.5, u, 0)", on="x=0"),
        ],
        constants={"k": 0.1}, reference={"u": "exp(-k*pi**2*t)*sin(pi*x)"}, name="heat",
    )
    return pinn.solve(
        problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=8), [pinn.Adam(2)]
    )


def test_a_problem_is_a_table_of_equations_and_conditions(solution):
    page = Page(solution.problem._repr_html_())
    for text in ("heat", "sin(pi*x)", "where(x < 0.5, u, 0)", "initial", "0.1"):
        assert any(text in one for one in page.texts)
    assert {"table", "code"} <= set(page.tags)


def test_a_problem_of_functions_and_classes_of_ones_own_is_shown_too():
    class Own(pinn.Dirichlet):
        pass

    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"line": lambda s: s.u_xx}, [Own("u", 0.0)]
    )
    page = Page(problem._repr_html_())
    assert page.tags == ["pre"] and "<Problem 'problem': u on" in page.texts[0]
    alone = pinn.Problem(pinn.Interval("x", 0, 1), ["u"], {"line": lambda s: s.u_xx})
    assert "a Python function" in Page(alone._repr_html_()).texts


def test_a_solution_has_its_errors_and_a_small_figure(solution):
    page = Page(solution._repr_html_())
    assert f"{solution.report.rel_l2['u']:.2e}" in page.texts
    (image,) = page.images
    kind, data = image["src"].split(",")
    png = base64.b64decode(data, validate=True)
    assert kind == "data:image/png;base64" and png.startswith(b"\x89PNG") and len(png) < 2**17


def test_a_figure_is_a_picture_of_its_size_without_pyplot(solution):
    figure = solution.plot("u", t=0.5)
    height, width = imread(io.BytesIO(figure._repr_png_())).shape[:2]
    assert (width, height) == tuple(figure.get_size_inches() * figure.dpi)
    assert pickle.loads(pickle.dumps(figure)).get_size_inches()[0] == figure.get_size_inches()[0]


def test_a_report_has_what_its_text_has(solution):
    page = Page(solution.report._repr_html_())
    for row in str(solution.report).splitlines():
        for cell in re.split(r"\s{2,}", row):
            assert cell in " ".join(page.texts) or not cell


def test_no_text_of_the_user_is_markup(solution):
    report = replace(
        solution.report, message=SCRIPT, rel_l2={SCRIPT: 1.0}, max_error={SCRIPT: 1.0},
        parameters={SCRIPT: 2.0}, error_estimate=ErrorEstimate(doubts=(SCRIPT,), remarks=(SCRIPT,)),
    )
    page = Page(report._repr_html_())
    assert "script" not in page.tags and sum(SCRIPT in one for one in page.texts) == 5
    problem = pinn.Problem(
        pinn.Interval("x", 0, 1), ["u"], {"line": "u_xx"},
        [pinn.Data("u", {"x": [0.5], "u": [1.0]}, name="d")], reference={"u": "where(x<1,x,0)"},
    )
    assert "u: where(x<1,x,0)" in Page(problem._repr_html_()).texts


class _Shell:
    def __init__(self, config):
        self.config = config


@pytest.mark.parametrize(("config", "name"), [({"IPKernelApp": {}}, "Notebook"), ({}, "Lines")])
def test_progress_is_a_bar_in_a_notebook_and_lines_elsewhere(monkeypatch, config, name):
    from types import SimpleNamespace

    from pinn.training.shown.display import display_for

    module = SimpleNamespace(get_ipython=lambda: _Shell(config))
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert type(display_for(None, 10.0)).__name__ == name


def test_a_real_notebook_shows_all_of_it(tmp_path):
    """Needs nbformat, nbconvert and ipykernel: pip install nbconvert ipykernel."""
    nbformat = pytest.importorskip("nbformat", reason="pip install nbconvert ipykernel")
    execute = pytest.importorskip("nbconvert.preprocessors", reason="pip install nbconvert")
    pytest.importorskip("ipykernel", reason="pip install ipykernel")
    cells = [
        "import pinn\n"
        "problem = pinn.Problem(pinn.Time('t', 0, 1), ['u'], {'decay': 'u_t + u'},"
        " [pinn.Initial('u', 1.0)], reference={'u': 'exp(-t)'})\n"
        "problem",
        "solution = pinn.solve(problem, pinn.MLP(width=4, depth=1), pinn.Sampling(interior=8),"
        " [pinn.Adam(300)], callbacks=[pinn.Progress()])\n"
        "solution",
        "solution.report",
        "solution.plot('u')",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    runner = execute.ExecutePreprocessor(timeout=300, kernel_name="python3")
    runner.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})
    shown = [
        output["data"]
        for cell in notebook.cells for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert len(shown) == 4
    problem, solution, report = (data["text/html"] for data in shown[:3])
    assert "u_t + u" in problem and "data:image/png;base64," in solution
    assert "relative L2" in report and "image/png" in shown[3]
    told = "".join(
        output.text for output in notebook.cells[1].outputs if output.output_type == "stream"
    )
    assert "adam: all 300 steps done" in told and "relative L2" in told
