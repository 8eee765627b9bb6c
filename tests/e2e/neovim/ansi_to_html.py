"""A terminal's screen with its colours as a page: ansi_to_html.py COLUMNS LINES < screen > page."""

import html
import re
import sys


def palette(index):
    if index < 16:
        base = [(0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229)]
        bright = [(127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255)]
        return (base + bright)[index]
    if index >= 232:
        return (8 + 10 * (index - 232),) * 3
    steps = (0, 95, 135, 175, 215, 255)
    index -= 16
    return steps[index // 36], steps[index // 6 % 6], steps[index % 6]


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.fg = self.bg = None
        self.on = set()

    def apply(self, codes):
        names = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
        off = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}
        i = 0
        while i < len(codes):
            code = codes[i]
            if code == 0:
                self.reset()
            elif code in names:
                self.on.add(names[code])
            elif code in off:
                self.on.difference_update(off[code])
            elif code in (38, 48):
                if codes[i + 1] == 2:
                    color, i = tuple(codes[i + 2 : i + 5]), i + 4
                else:
                    color, i = palette(codes[i + 2]), i + 2
                if code == 38:
                    self.fg = color
                else:
                    self.bg = color
            elif code == 39:
                self.fg = None
            elif code == 49:
                self.bg = None
            elif 30 <= code <= 37:
                self.fg = palette(code - 30)
            elif 40 <= code <= 47:
                self.bg = palette(code - 40)
            elif 90 <= code <= 97:
                self.fg = palette(code - 82)
            elif 100 <= code <= 107:
                self.bg = palette(code - 92)
            i += 1

    def css(self):
        fg, bg = self.fg or (220, 220, 220), self.bg
        if "reverse" in self.on:
            fg, bg = bg or (20, 20, 20), fg
        parts = ["color:#%02x%02x%02x" % fg]
        if bg:
            parts.append("background:#%02x%02x%02x" % bg)
        if "bold" in self.on:
            parts.append("font-weight:bold")
        if "italic" in self.on:
            parts.append("font-style:italic")
        if "underline" in self.on:
            parts.append("text-decoration:underline")
        return ";".join(parts)


def main():
    columns, lines = int(sys.argv[1]), int(sys.argv[2])
    style, rows, colors = Style(), [], {}
    for line in sys.stdin.read().split("\n")[:lines]:
        row = []
        for piece in re.split(r"(\x1b\[[0-9;:]*m)", line):
            if piece.startswith("\x1b["):
                style.apply([int(code or 0) for code in re.split("[;:]", piece[2:-1])])
            elif piece:
                colors[style.bg] = colors.get(style.bg, 0) + len(piece)
                row.append('<span style="%s">%s</span>' % (style.css(), html.escape(piece)))
        rows.append("".join(row))
    page_color = max(colors, key=colors.get)
    print(
        "<!doctype html><meta charset=utf-8><style>html{background:#%02x%02x%02x}body{margin:12px}"
        "pre{margin:0;width:%dch;font:13.29px/18px 'DejaVu Sans Mono',monospace;display:block}"
        "div{height:18px;white-space:pre}span{display:inline-block;height:18px;vertical-align:top}</style><pre>"
        % (*(page_color or (20, 22, 27)), columns)
    )
    print("".join("<div>%s</div>" % row for row in rows))
    print("</pre>")


main()
