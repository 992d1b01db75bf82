"""The page about domains says what is so: its Python runs, its YAML gives the same shapes."""

import re
from pathlib import Path

import yaml

import pinn
from pinn.schema import fields_of
from pinn.schema.reader import Reader
from pinn.schema.tree import Place, tree_of

PAGE = Path(__file__).parents[3] / "docs" / "geometry.md"


def blocks(kind):
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_the_page_runs_and_its_yaml_says_the_same():
    made = {}
    exec(compile("\n".join(blocks("python")), str(PAGE), "exec"), made)
    (text,) = blocks("yaml")
    kind = fields_of(pinn.Problem)["domain"].kind
    for name, data in yaml.safe_load(text).items():
        reader = Reader()
        assert kind.read(tree_of(data, Place(name)), (), reader) == made[name], reader.complaints
