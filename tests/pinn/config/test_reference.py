"""The reference page: made from the declarations, and up to date."""

from pathlib import Path

from pinn.config import reference, sections
from pinn.config.reference import default_text, groups
from pinn.schema import fields_of

ROOT = Path(__file__).parents[3]


def test_the_page_is_up_to_date():
    written = (ROOT / reference.PAGE).read_text(encoding="utf-8")
    assert written == reference.page(), "write it again: python -m pinn.config.reference"


def test_the_page_is_written_below_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference.main()
    assert Path("docs/reference.md").read_text(encoding="utf-8") == reference.page()


def test_every_section_and_every_argument_has_a_row():
    page = reference.page()
    for key in sections():
        assert f"\n| `{key}` | " in page
    for members in groups().values():
        for member in members:
            for key in member.fields:
                assert f"\n| `{key}` | " in page
            assert member.summary.endswith("."), member.name


def test_defaults_are_said_in_few_words():
    def default(cls, key):
        return default_text(fields_of(cls)[key])

    from pinn import LBFGS, Adam, Dirichlet, Initial, Sampling

    assert default(Adam, "learning_rate") == "0.001"
    assert default(Adam, "seconds") == default(Dirichlet, "on") == "none"
    assert default(Initial, "hard") == "false" and default(Initial, "value") == "required"
    assert default(Sampling, "method") == "latin-hypercube"
    assert default(LBFGS, "steps") == "10000"
    shown = {key: default_text(field) for key, field in sections().items()}
    assert shown["model"] == "auto" and shown["precision"] == "float64"
    assert shown["sampling"] == "its defaults" and shown["problem"] == "required"


def test_markdown_keeps_names_and_code():
    page = reference.page()
    assert "dirichlet\\_u\\_x\\_low" in page and "which `schedule` lowers" in page
