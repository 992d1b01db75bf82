"""The page in a browser: what is drawn, moved and said, and that nothing leaves the machine."""

import base64
import dataclasses
import json
import re
import shutil
import threading
import time
import zlib

import numpy as np
import pytest

import pinn
from pinn.report import write_report
from pinn.report.watch import watching

from .conftest import HOSTILE, run_of

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)  # fmt: skip
CHROMEDRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER), reason="needs chromium and chromedriver on the PATH"
)


class Browser:
    """A browser without a window, by chromedriver."""

    def __init__(self, profile):
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", "--window-size=1280,1000",
        ):  # fmt: skip
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))

    def open(self, address):
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)  # of the page before
        self.driver.get(address)
        self.until("document.documentElement.dataset.ready")

    def run(self, script):
        return self.driver.execute_script(f"return {script}")

    def until(self, script, seconds=30):
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never came true: {script}"
            time.sleep(0.03)
        return value

    def move(self, slider, value):
        """Move the slider of some place among all to a value."""
        self.driver.execute_script(
            "const one = document.querySelectorAll('input[type=range]')[arguments[0]];"
            "one.value = arguments[1]; one.dispatchEvent(new Event('input'));", slider, value,
        )  # fmt: skip
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return the addresses that were asked for, but by the browser's own first page."""
        told = [json.loads(one["message"])["message"] for one in self.driver.get_log("performance")]
        sent = [one["params"] for one in told if one["method"] == "Network.requestWillBeSent"]
        return [
            one["request"]["url"] for one in sent
            if not one["documentURL"].startswith("chrome")
            and one["request"]["url"].startswith(("http", "ws", "ftp", "file"))
        ]  # fmt: skip


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    pytest.importorskip("selenium", reason="needs selenium")
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.driver.quit()


@pytest.fixture(scope="module")
def plate_page(plate, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plate")
    return write_report(run_of(plate, folder / "plate-0"))


@pytest.fixture(scope="module")
def heat_page(heat, tmp_path_factory):
    folder = tmp_path_factory.mktemp("heat")
    return write_report(run_of(heat, folder / "heat-0"))


MAP = "document.querySelectorAll('#field-plots .panels .plot')"
CURVES = "document.querySelectorAll('#curve-plots .plot')"
ROWS = f"{MAP}[0].data[0].z.map(row => Array.from(row))"


def test_the_page_is_drawn_without_a_complaint_and_asks_for_nothing(browser, heat_page):
    browser.open(heat_page.as_uri())
    assert browser.run(f"{MAP}.length") == 3  # network, reference, error
    assert browser.run(f"{CURVES}.length") == 2  # loss, error
    assert browser.run("document.querySelectorAll('.plot .main-svg').length") >= 5
    assert browser.complaints() == []
    assert browser.requests() == [heat_page.as_uri()]
    tried = "fetch('http://127.0.0.1:9/').then(() => 'it went', () => 'it did not go')"
    assert browser.run(tried) == "it did not go"
    assert any("Content Security Policy" in one for one in browser.complaints())


def test_a_script_in_a_text_does_not_run(browser, heat, tmp_path):
    report = dataclasses.replace(heat.report, message=HOSTILE, warnings=(HOSTILE,))
    run = run_of(pinn.Solution(heat.experiment, heat.theta, report), tmp_path / "run")
    run.log({"step": 10, "stage": HOSTILE, "loss": 0.5, "losses": {HOSTILE: 0.5}})
    browser.open(write_report(run).as_uri())
    assert browser.run("document.title") == "heat"
    shown = browser.run("document.querySelector('#results-text').textContent")
    assert HOSTILE in shown
    legend = browser.run(f"{CURVES}[0].querySelector('.legend').textContent")
    assert "<script>" in legend  # as letters
    assert browser.complaints() == []


def test_pointing_at_a_map_tells_what_the_solution_says_there(browser, heat, heat_page):
    from selenium.webdriver.common.action_chains import ActionChains

    browser.open(heat_page.as_uri())
    place = browser.driver.find_elements("css selector", "#field-plots .panels .plot .nsewdrag")[0]
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", place)
    ActionChains(browser.driver).move_to_element_with_offset(place, 31, -17).perform()
    text = browser.until("!document.getElementById('tip').hidden && "
                         "document.getElementById('tip').textContent")  # fmt: skip
    numbers = {name: float(value.replace("\N{MINUS SIGN}", "-"))
               for name, value in re.findall(r"(\w+)(?: = | )([\N{MINUS SIGN}\d.e-]+)", text)}
    u = float(heat.evaluate(x=numbers["x"], t=numbers["t"])["u"])
    exact = np.exp(-0.5 * numbers["t"]) * np.sin(numbers["x"])
    assert 0.5 < numbers["t"] < 0.9 and 1.6 < numbers["x"] < 2.6  # right of the middle, above it
    assert numbers["network"] == pytest.approx(u, abs=2e-4)
    assert numbers["reference"] == pytest.approx(exact, abs=2e-4)
    assert numbers["error"] == pytest.approx(u - exact, abs=2e-4)
    assert text.splitlines()[1].removeprefix("network ") in browser.run(
        "document.querySelector('.probe').textContent"
    )


def test_the_keyboard_does_all_that_the_mouse_does(browser, heat, heat_page):
    from selenium.webdriver.common.keys import Keys

    browser.open(heat_page.as_uri())
    place = browser.driver.find_elements("css selector", "#field-plots .panels .plot")[0]
    place.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ARROW_UP)
    told = browser.run("document.querySelector('.probe').textContent")
    t, x = (float(found) for found in re.search(r"t = (\S+), x = ([^:]+):", told).groups())
    count = browser.run(f"{ROWS}.length")
    assert x == pytest.approx(np.pi / 2 + 2 * np.pi / (count - 1), abs=1e-3)
    value = float(re.search(r"network (\S+),", told)[1].replace("\N{MINUS SIGN}", "-"))
    assert value == pytest.approx(float(heat.evaluate(x=x, t=t)["u"]), abs=2e-4)
    slider = browser.driver.find_element("css selector", "input[type=range]")
    before = slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert slider.get_attribute("aria-valuetext") != before


def test_the_slider_of_time_changes_the_picture(browser, plate, plate_page):
    browser.open(plate_page.as_uri())
    first = np.array(browser.run(ROWS), dtype=float)
    picture = f"{MAP}[0].querySelector('image').getAttribute('href')"
    drawn = browser.run(picture)
    last = int(browser.run("document.querySelector('input[type=range]').max"))
    browser.move(0, last)
    second = np.array(browser.run(ROWS), dtype=float)
    assert browser.run("document.querySelector('output').textContent") == "t = 2"
    xs, ys = browser.run(f"{MAP}[0].data[0].x"), browser.run(f"{MAP}[0].data[0].y")
    for rows, t in ((first, 0.0), (second, 2.0)):
        assert rows[4, 7] == pytest.approx(float(plate.evaluate(x=xs[7], y=ys[4], t=t)["u"]))
    assert np.nanmax(np.abs(second - first)) > 1e-3
    assert browser.run(picture) != drawn


def test_in_a_hole_nothing_is_told_and_its_inside_is_covered(browser, plate_page):
    browser.open(plate_page.as_uri())
    browser.driver.find_elements("css selector", "#field-plots .panels .plot")[0].send_keys(
        "\ue013"  # arrow up, from the middle
    )
    assert "outside of the domain" in browser.run("document.querySelector('.probe').textContent")
    shapes = browser.run(f"{MAP}[0].layout.shapes")
    assert [one["fillcolor"] for one in shapes if one.get("fillrule") == "evenodd"] == ["#ffffff"]


def test_maps_zoom_together(browser, heat_page):
    browser.open(heat_page.as_uri())
    browser.run(f"Plotly.relayout({MAP}[0], {{'xaxis.range[0]': 0.25, 'xaxis.range[1]': 0.5}})")
    for i in range(3):
        browser.until(f"{MAP}[{i}].layout.xaxis.range[0] === 0.25")


def test_curves_are_drawn_over_steps_or_seconds_and_logarithmic_or_not(browser, heat, heat_page):
    browser.open(heat_page.as_uri())
    assert browser.run(f"{CURVES}[0].layout.yaxis.type") == "log"
    assert browser.run(f"{CURVES}[0].data[0].x") == [one["step"] for one in heat.report.history]
    total = browser.run(f"{CURVES}[0].data[0].y")
    assert total == pytest.approx([one["loss"] for one in heat.report.history], rel=1e-5)
    browser.run("document.querySelector('#curve-plots input[value=\"1\"]').click()")
    assert browser.run(f"{CURVES}[0].data[0].x")[0] < 1
    browser.run("document.querySelector('#curve-plots input[type=checkbox]').click()")
    assert browser.run(f"{CURVES}[0].layout.yaxis.type || 'linear'") == "linear"


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser, heat_page, width):
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500,
    })  # fmt: skip
    browser.open(heat_page.as_uri())
    assert browser.run("document.documentElement.scrollWidth") <= width
    right = "one => one.getBoundingClientRect().right"
    assert browser.run(f"Math.max(...Array.from({MAP}, {right}))") <= width
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_page_prints_with_its_figures(browser, heat_page):
    browser.open(heat_page.as_uri())
    printed = browser.driver.execute_cdp_cmd(
        "Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True}
    )
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") >= 2
    assert pdf.count(b"/Subtype /Image") >= 3  # the maps
    lines = sum(
        stream.count(b" l\n")
        for stream in map(_inflated, re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.S))
    )
    assert lines > 100  # the curves


def _inflated(data):
    try:
        return zlib.decompressobj().decompress(data)
    except zlib.error:
        return b""  # of another kind


def test_the_page_follows_a_run(browser, heat, tmp_path):
    server = watching(tmp_path / "run")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        browser.open(server.url)
        browser.until("document.querySelector('#results-text').textContent.includes('No run is')")
        run = run_of(heat, tmp_path / "run")
        browser.until(f"{CURVES}.length === 2 && {MAP}.length === 3")
        browser.move(0, 5)
        run.log({"step": 77, "stage": "adam", "loss": 0.5, "losses": {}})
        browser.until(f"{CURVES}[0].data[0].x.at(-1) === 77")
        assert browser.run("document.querySelector('input[type=range]').value") == "5"
        assert browser.complaints() == []
        assert set(browser.requests()) == {
            server.url + name for name in ("", "progress.json", "fields.json")
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    browser.until("document.querySelector('#following').className === 'lost'")
