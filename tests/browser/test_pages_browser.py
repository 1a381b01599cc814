"""What only a browser can tell: the address, the keyboard, what is requested, and that no traceback shows."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import chart_data, settle

pytestmark = pytest.mark.browser

SIGMA = ".st-key-bounds_sigma input[type=range]"


def query(page):
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def test_a_link_shows_the_same_picture_in_another_browser(open_page, chromium):
    page = open_page("/bounds")
    page.get_by_role("button", name="Figure 1 right").click()
    settle(page)
    assert query(page) == {"bounds_sigma": "10", "bounds_lambda": "5"}
    sent = chart_data(page, "bounds_chart")
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("[data-testid=stPopoverBody] code").inner_text()
    stranger = chromium.new_context(viewport={"width": 420, "height": 900})
    for address in (link, page.url):
        other = open_page(address, within=stranger)
        received = chart_data(other, "bounds_chart")
        assert received == sent
        assert len(received) == 5
        assert other.locator(".answer").inner_text() == page.locator(".answer").inner_text()
    stranger.close()


def test_the_first_visitor_may_come_through_a_link_to_a_page(fresh_server, context):
    page = context.new_page()
    page.goto(f"{fresh_server}/bounds?bounds_sigma=10")
    settle(page)
    assert page.get_by_role("heading", level=1).inner_text() == "How much privacy does one fit cost?"
    assert page.get_by_text("Many releases", exact=True).count() == 1  # the menu of app.py
    assert query(page) == {"bounds_sigma": "10"}
    assert "ε = 0.341" in page.locator(".answer").inner_text().replace("\xa0", " ")


def test_the_keyboard_moves_a_slider_and_the_picture_follows(open_page):
    page = open_page("/bounds")
    before = chart_data(page, "bounds_chart")
    page.locator(SIGMA).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**bounds_sigma=5.6**")
    settle(page)
    page.wait_for_function("document.querySelector('.answer').innerText.includes('0.64')")
    after = chart_data(page, "bounds_chart")
    assert after["Logistic (tight)"][1] != before["Logistic (tight)"][1]
    assert after["Logistic (tight)"][0] == before["Logistic (tight)"][0]


@pytest.mark.parametrize(
    "address",
    [
        "/bounds?bounds_sigma=%00&bounds_lambda=NaN&bounds_view=-1&bounds_delta=1e-5x&bounds_ghost=perhaps",
        "/?home_draw=1e999",
        "/training?training_repeats=inf&training_split=1e400&training_seed=-1e999",
        "/renyi?renyi_sigma=nan&renyi_noise=-1&renyi_steps=1e400&renyi_delta=",
        "/distance?distance_sigma=inf&distance_delta=0&distance_beta=%00",
        "/planner?planner_epsilon=-0&planner_delta=2&planner_rows=1e999",
        "/composition?composition_k=0&composition_sigma=nan&composition_ledger=fit*1e9:;;x",
        "/tuning?tuning_delta=1&tuning_settings=1e400&tuning_epsilon=nan",
        "/?home_draw=99999999999999999999&home_sigma=[]&home_person=%F0%9F%A6%86&home_lambda=1e309",
    ],
)
def test_nonsense_in_the_address_shows_the_default_and_no_traceback(open_page, address):
    page = open_page(address)
    assert page.get_by_text("What am I looking at?").count() == 1  # the last thing on every page
    assert not query(page)
    text = page.locator("body").inner_text()
    assert "Traceback" not in text
    assert "encountered an error" not in text
    assert page.locator("[data-testid=stException]").count() == 0


PATHS = ["/", "/bounds", "/distance", "/renyi", "/planner", "/composition", "/tuning"]


@pytest.mark.parametrize("path", PATHS)
def test_no_other_host_is_asked_for_anything(context, server, path):
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    page.goto(server + path)
    settle(page)
    page.get_by_text("What am I looking at?").click()
    page.locator(".katex").first.wait_for()
    page.wait_for_timeout(500)
    own = urlsplit(server).netloc
    assert len(asked) > 5
    assert {urlsplit(url).netloc for url in asked if not url.startswith(("data:", "blob:"))} == {own}


def test_charts_are_named_for_those_who_do_not_see_them(open_page):
    page = open_page("/bounds")
    chart = page.get_by_role("figure", name="ε at δ = 10⁻⁵: Logistic (tight) 0.726")
    assert chart.count() == 1
    assert page.locator("[role=status] .answer").count() == 1


def test_downloads_hold_the_numbers_and_the_figure(open_page, tmp_path):
    page = open_page("/bounds")
    with page.expect_download() as csv:
        page.get_by_role("button", name="Numbers as CSV").click()
    with page.expect_download() as svg:
        page.get_by_role("button", name="Figure as SVG").click()
    rows = csv.value.path().read_text().splitlines()
    shown = chart_data(page, "bounds_chart")["Logistic (tight)"]
    assert csv.value.suggested_filename == "bounds.csv"
    assert rows[0] == "epsilon,delta_kifer2012,delta_rdp,delta_glm,delta_logistic,delta_lower"
    assert [float(row.split(",")[4]) for row in rows[1:]] == shown[1]
    assert svg.value.suggested_filename == "bounds.svg"
    assert "Logistic (tight)" in svg.value.path().read_text()


def test_play_draws_releases_and_stop_stops(open_page):
    page = open_page("/")
    count = "document.querySelector('.st-key-home_chart .js-plotly-plot')._fullData.at(-1).x.length"
    page.wait_for_function(f"{count} === 2")
    page.wait_for_timeout(800)
    assert page.evaluate(count) == 2  # nothing moves by itself
    page.locator(".updatemenu-button", has_text="Play").click()
    page.wait_for_function(f"{count} >= 6")
    page.locator(".updatemenu-button", has_text="Stop").click()
    page.wait_for_timeout(400)
    stopped = page.evaluate(count)
    page.wait_for_timeout(1200)
    assert page.evaluate(count) == stopped
    page.get_by_role("button", name="Draw another b").click()
    page.wait_for_url("**home_draw=2**")


@pytest.mark.parametrize("path", ["/", "/bounds"])
def test_nothing_sticks_out_on_a_phone(chromium, open_page, path):
    phone = chromium.new_context(viewport={"width": 420, "height": 800}, color_scheme="dark")
    page = open_page(path, within=phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    wide = page.evaluate(
        """() => [...document.querySelectorAll('[data-testid=stMain] :is(h1, p, button, input, .js-plotly-plot)')]
            .filter(e => e.offsetParent && e.getBoundingClientRect().right > 421).map(e => e.outerHTML.slice(0, 200))"""
    )
    assert wide == []
    phone.close()
