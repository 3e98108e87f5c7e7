"""What is typed into a lab: keys, names, the bar of glyphs, the editor's mode, popups."""
import seen
from page import cell, check, command, glyphs, line, ready, type_anew


def keys(page):
    wrong = [(g["key"], got) for g in glyphs() if g["key"] for got in [type_anew(page, "`" + g["key"])] if got != g["glyph"]]
    check("each key behind a backtick gives its glyph", not wrong, wrong)
    check("a line of keys", type_anew(page, "x`[2 3`r`i6") == "x←2 3⍴⍳6", line(page))
    check("two backticks are one that stands", type_anew(page, "``w") == "`w", line(page))
    for name, glyph in [("rho", "⍴"), ("natural logarithm", "⍟")]:
        type_anew(page, name)
        page.keyboard.press("Tab")
        check(f"{name}, then Tab", line(page) == glyph, line(page))
    words = page.locator(".jp-MarkdownCell").last
    words.scroll_into_view_if_needed()
    words.click()
    page.keyboard.press("Enter")
    words.locator(".cm-line").first.wait_for(timeout=5000)
    page.keyboard.press("Control+a")
    page.keyboard.type("`w")
    got = words.locator(".cm-line").first.text_content()
    check("a cell of words keeps its backticks", got == "`w", got)
    type_anew(page, "")


def bar(page):
    type_anew(page, "")
    buttons = page.locator(".aplomb-bar button:not(.hide)")
    check("the bar has every glyph", buttons.all_text_contents() == [g["glyph"] for g in glyphs()])
    buttons.filter(has_text="⍳").first.hover()
    tip = page.locator(".aplomb-tip").inner_text()
    check("over a glyph stand its names", "iota" in tip, tip)
    buttons.filter(has_text="⍳").first.click()
    page.keyboard.type("5")
    check("a click puts the glyph and the cell keeps the focus", line(page) == "⍳5", line(page))
    page.locator(".aplomb-bar .hide").click()
    check("the bar can be hidden", not page.locator(".aplomb-bar").is_visible())
    command(page, "aplomb:bar")
    page.locator(".aplomb-bar").wait_for(timeout=5000)
    row, first, hide = (page.locator(f".aplomb-bar {e}").first.bounding_box() for e in [".strip", "button", ".hide"])
    check("and shown again, whole", row["y"] <= first["y"] and hide["x"] > row["x"] + row["width"] - 1, (row, first, hide))


def editor(page):
    type_anew(page, "f`[{`w+1} `, note")
    looks = cell(page, 0).locator(".cm-line span").evaluate_all("all => all.map(e => e.className)")
    wanted = {"apl-def", "apl-arrow", "apl-arg", "apl-fun", "apl-num", "apl-com", "apl-b0"}
    type_anew(page, ":If x")
    first = cell(page, 0).locator(".cm-line span").first
    looks_so = first.text_content() == ":If" and "apl-ctl" in first.get_attribute("class")
    check("the mode knows control words", looks_so, first.evaluate("e => e.outerHTML"))
    check("the mode knows functions, arguments, comments", wanted <= {c for l in looks for c in l.split()}, looks)
    all_glyphs = "".join(g["glyph"] for g in glyphs())
    loaded = page.evaluate("document.fonts.load(\"16px 'Aplomb Mono'\", '⍳').then(f => f.length)")
    check("the font is there", loaded == 1, loaded)
    widths = page.evaluate(seen.WIDTHS, ["'Aplomb Mono'", all_glyphs + "Mi┌┐└┘│─"])
    check("all glyphs have one width", len(widths) == 1, widths)
    font = cell(page, 0).locator(".cm-content").evaluate("e => getComputedStyle(e).fontFamily")
    check("cells have the font", "Aplomb Mono" in font, font)


def prefix(page):
    """Another prefix, which the lab's settings keep: a page that is opened anew has it."""
    save = "raw => jupyterapp.serviceManager.settings.save('aplomb:keys', raw).then(() => null)"

    def opened_with(raw):
        page.evaluate(save, raw)
        page.reload()
        ready(page)

    opened_with('{"prefix": "§"}')
    check("another prefix is another", type_anew(page, "§w`w§§w") == "⍵`w§w", line(page))
    type_anew(page, "")
    opened_with("{}")


def popup(page):
    for typed in ["re", "⎕N", "]p", "`r"]:
        type_anew(page, "")
        page.keyboard.insert_text(typed)  # at once: the keys of glyphs are none of this
        if typed == "`r":
            type_anew(page, "`r")
            page.keyboard.press("Control+z")  # the typed characters, so that the completer sees them
        page.keyboard.press("Tab")
        rows = page.locator(".jp-Completer-item")
        try:
            rows.first.wait_for(timeout=5000)
        except Exception:
            # One answer is put at once.
            check(f"{typed} is completed", line(page) != typed, line(page))
            continue
        boxes = rows.evaluate_all("all => all.slice(0, 12).map(e => e.getBoundingClientRect().toJSON())")
        high = rows.evaluate_all("all => all.slice(0, 12).every(e => e.scrollHeight <= e.clientHeight + 1)")
        apart = not seen.overlaps(boxes) and all(b["height"] < 40 for b in boxes)
        check(f"rows of the popup behind {typed} do not overlap, nor wrap", apart and high, boxes)
        page.keyboard.press("Escape")
    type_anew(page, "")
