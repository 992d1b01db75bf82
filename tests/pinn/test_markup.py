"""HTML in which every text is escaped."""

from html.parser import HTMLParser

from pinn.markup import Html, element, facts, joined, table


class Seen(HTMLParser):
    """What a parser of its own finds in markup."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


HOSTILE = "</td><script>alert(1)</script><!-- \" ' & &lt;"


def test_texts_and_attributes_come_back_as_they_were_whatever_is_in_them():
    seen = Seen(element("p", HOSTILE, title=HOSTILE, class_="note", data_x=3))
    assert seen.tags == [("p", {"title": HOSTILE, "class": "note", "data-x": "3"})]
    assert seen.text == HOSTILE


def test_markup_inside_of_markup_is_kept_and_text_beside_it_is_escaped():
    seen = Seen(element("p", element("b", "a<b"), " & ", None, Html("<i>c</i>")))
    assert [tag for tag, _ in seen.tags] == ["p", "b", "i"]
    assert seen.text == "a<b & c"


def test_adding_texts_to_markup_makes_no_markup_of_them():
    """A str method returns a plain str, so what came from outside is never taken for markup."""
    added = element("b", "x") + "<script>"
    assert not isinstance(added, Html)
    assert "<script>" not in joined([added])


def test_attributes_that_are_true_stand_alone_and_others_that_are_none_are_left_out():
    assert element("details", open=True, id=None, hidden=False) == "<details open></details>"
    assert element("img", src="a") == '<img src="a">'


def test_tables_and_facts_escape_every_cell():
    seen = Seen(table([HOSTILE, "b"], [[HOSTILE, HOSTILE]], numbers=1) + facts([(HOSTILE, "x")]))
    assert "script" not in [tag for tag, _ in seen.tags]
    assert seen.text == HOSTILE + "b" + HOSTILE + HOSTILE + HOSTILE + "x"
    cells = [(tag, given.get("class")) for tag, given in seen.tags if tag in ("th", "td")]
    assert cells == [("th", None), ("th", "number"), ("th", None), ("td", "number")]
