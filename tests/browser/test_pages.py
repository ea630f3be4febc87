"""The pages as people meet them, in a real browser."""

import itertools
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from .conftest import EVIL, EVIL_NAME, STUDENTS

FEEDBACK = f"{STUDENTS[2]}/feedback.html"
PAGES = ["report.html", FEEDBACK]
VISIBLE = "#class tbody tr:not([hidden])"


def read_column(page, number: int) -> list[str]:
    return [text.strip() for text in page.locator(f"#class tbody tr > :nth-child({number})")
            .all_text_contents()]  # fmt: skip


def check_scores(scores: list[str], *, descending: bool) -> None:
    shown = list(itertools.takewhile(bool, scores))
    assert len(shown) == len(STUDENTS) - 2
    assert not any(scores[len(shown) :])  # blanks come last, either way
    assert [float(s) for s in shown] == sorted(map(float, shown), reverse=descending)
    assert len(set(shown)) > 3


# --- sorting and searching ------------------------------------------------------------------------


def test_a_click_sorts_and_another_turns_it_round(open_page):
    page = open_page("report.html")
    head = page.locator("#class thead th", has_text="score").first
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    check_scores(read_column(page, 2), descending=True)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    check_scores(read_column(page, 2), descending=False)
    page.get_by_role("button", name="student").first.click()
    assert head.get_attribute("aria-sort") is None
    assert read_column(page, 1)[:3] == ["absent", "broken", "student00"]
    assert read_column(page, 1)[-1] == EVIL_NAME


def test_every_table_can_be_sorted(open_page):
    page = open_page("report.html")
    buttons = page.locator("[data-sortable] thead button")
    assert buttons.count() == page.locator("[data-sortable] thead th[data-sort]").count() > 20
    for button in buttons.all():
        button.click()
    assert page.locator("th[aria-sort]").count() == page.locator("table[data-sortable]").count()


def test_search_shows_who_has_all_the_words(open_page):
    page = open_page("report.html")
    total = page.locator(VISIBLE).count()
    assert total == len(STUDENTS)
    for words, count in [("student0", 10), ("STUDENT07 graded", 1), ("nobody at all", 0),
                         ("zoe luk", 1), ("uses_something", 7), ("ungradable", 1)]:  # fmt: skip
        page.get_by_label("Find").fill(words)
        assert page.locator(VISIBLE).count() == count, words
        assert page.get_by_role("status").text_content() == f"{count} of {total} shown"
    page.get_by_role("button", name="Show all").click()
    assert page.locator(VISIBLE).count() == total
    assert page.get_by_role("status").text_content() == ""


def test_a_mistake_leads_to_its_students(open_page):
    page = open_page("report.html")
    page.get_by_label("Find").fill("fault_1")
    shown = page.locator(VISIBLE).count()
    row = page.locator("section", has=page.locator("#mistakes")).locator("tr", has_text="fault_1")
    assert 0 < shown == int(row.locator("td").first.text_content())
    row.locator("summary").click()
    row.get_by_role("link").first.click()
    assert page.url.endswith("/feedback.html")


def test_all_links_lead_somewhere(open_page, folder):
    page = open_page("report.html")
    for link in page.locator("a").all():
        target = link.evaluate("a => a.href")
        if "#" in target:
            assert page.locator(f"[id='{target.split('#')[1]}']").count() == 1
        else:
            assert page.context.request is not None
            assert page.evaluate("href => decodeURIComponent(new URL(href).pathname)", target) in {
                str(folder / student / "feedback.html") for student in STUDENTS
            }
    page.get_by_role("link", name=EVIL_NAME).first.click()
    assert page.get_by_role("heading", level=1).text_content() == f"Feedback for {EVIL_NAME}"


# --- keyboard -------------------------------------------------------------------------------------


def test_everything_can_be_done_without_a_mouse(open_page):
    page = open_page("report.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0  # shows once it has the focus
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "students"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("student1")
    assert page.locator(VISIBLE).count() == 10
    page.keyboard.press("Escape")
    assert page.locator(VISIBLE).count() == len(STUDENTS)
    for _ in range(4):  # over the button and the table, which scrolls, to "score"
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "score"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    check_scores(read_column(page, 2), descending=True)
    page.keyboard.press("Space")
    check_scores(read_column(page, 2), descending=False)


def test_the_focus_reaches_every_control(open_page):
    page = open_page("report.html")
    wanted = page.evaluate("""() => Array.from(
        document.querySelectorAll("a[href], button, input, summary, [tabindex='0']"))
        .filter(e => e.checkVisibility()).length""")
    seen = 0
    for _ in range(wanted + 1):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        seen += 1
    assert seen == wanted


# --- paper, phones, people who do not see ---------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_all_is_unfolded_and_no_controls_are_left(open_page, name):
    page = open_page(name)
    page.evaluate("""() => {
        window.seen = [];
        for (const kind of ["beforeprint", "afterprint"])
            addEventListener(kind, () => window.seen.push(kind));
    }""")
    page.emulate_media(media="print")
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("window.seen") == ["beforeprint", "afterprint"]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for inner in page.locator("details > :not(summary)").all():
        assert inner.bounding_box()["height"] > 0
    for control in page.locator("nav, .tools, .skip").all():
        assert not control.is_visible()
    for button in page.locator("thead button").all():  # else only the first page has the head
        assert button.evaluate("b => getComputedStyle(b).display") == "contents"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_what_was_folded_is_folded_again_after_printing(open_page):
    page = open_page("report.html")
    folded = page.locator("details:not([open])").count()
    assert folded > 0
    page.pdf()
    assert page.locator("details:not([open])").count() == folded


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_is_wider_than_the_window(open_page, name, width):
    page = open_page(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_mistakes_and_remarks_wrap_rather_than_leave_a_small_window(open_page):
    page = open_page("report.html", width=1100)
    table = page.get_by_role("region", name="All students")
    page.evaluate("""() => document.querySelectorAll("#class td:nth-last-child(-n+2)")
        .forEach(cell => cell.append("positional_encoding.py_".repeat(9)))""")
    assert table.evaluate("e => e.scrollWidth <= e.clientWidth")
    for cell in page.locator("#class tbody tr").first.locator("td").all()[-2:]:
        assert cell.bounding_box()["width"] >= 140


@pytest.mark.parametrize("name", [*PAGES, "broken/feedback.html"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_a_screen_reader_finds_its_way(open_page, name, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(name, width=width, color_scheme=scheme)
    found = Axe().run(page).response
    assert len(found["passes"]) > 10  # it has looked
    assert [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found["violations"]] == []


def test_pictures_are_drawn_and_told(open_page):
    page = open_page(FEEDBACK)
    images = page.locator(".map img")
    assert images.count() == 6
    for image in images.all():
        assert image.evaluate("i => [i.naturalWidth, i.naturalHeight]") == [4, 3]
    assert "3 of 12 differ from the right ones, the first at row 0, column 0" in (
        images.first.get_attribute("alt")
    )
    pixels = images.first.evaluate("""image => {
        const canvas = document.createElement("canvas");
        const brush = canvas.getContext("2d");
        brush.drawImage(image, 0, 0);
        return Array.from(brush.getImageData(0, 0, 4, 1).data);
    }""")
    pink, warm, white, blue = (pixels[n : n + 3] for n in range(0, 16, 4))
    assert white == [255, 255, 255]
    assert pink[0] > 200 > pink[1] and warm[0] > warm[2] and blue[2] > blue[0]


# --- nothing gets in or out -----------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_hostile_text_is_shown_as_text(open_page, name):
    page = open_page(name)
    assert EVIL.replace("`x`", "x") in page.locator("body").inner_text()
    assert page.locator("img:not([src^='data:image/png'])").count() == 0
    assert page.locator("b, [onclick], [onerror]").count() == 0
    assert page.locator("script").count() == (name == "report.html")
    assert "49" not in page.locator("h1").inner_text()


SMUGGLED = """address => {
    const script = document.createElement("script");
    script.textContent = "window.acted = 1";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", `
        <img src="data:," onerror="window.acted = 2">
        <img src="${address}/beacon.png">
        <link rel="stylesheet" href="${address}/style.css">
        <iframe src="${address}/frame.html"></iframe>
        <p id="styled" style="color: rgb(1, 2, 3)">x</p>`);
    return fetch(address, {mode: "no-cors"}).then(() => "sent", () => "stopped");
}"""


@pytest.fixture
def outside() -> Iterator[tuple[str, list[str]]]:
    """A server that pages must not reach: its address, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("is_held", [True, False], ids=["with its policy", "without"])
def test_text_that_got_past_the_escaping_would_be_dead(browser, folder, outside, name, is_held):
    """The policy is a second wall; without it, what is smuggled in here does act."""
    address, asked = outside
    context = browser.new_context(bypass_csp=not is_held)
    page = context.new_page()
    page.goto((folder / name).as_uri())
    assert page.evaluate(SMUGGLED, address) == ("stopped" if is_held else "sent")
    page.wait_for_load_state("networkidle")
    acted = page.evaluate("window.acted")
    colour = page.evaluate("getComputedStyle(styled).color")
    context.close()
    if is_held:
        assert (acted, asked) == (None, [])
        assert colour != "rgb(1, 2, 3)"
    else:
        assert acted
        assert {"/beacon.png", "/style.css", "/frame.html", "/"} <= set(asked)
        assert colour == "rgb(1, 2, 3)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_without_scripts(open_page, name):
    page = open_page(name, java_script_enabled=False)
    assert page.get_by_role("heading", level=1).is_visible()
    assert not page.get_by_label("Find").is_visible()
    assert page.locator("button:visible").count() == 0
