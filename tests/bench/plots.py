"""Bar charts as SVG, written by hand: no library is needed to look at them."""

from dataclasses import dataclass
from html import escape

WIDTH = 860
LABEL = 190
RIGHT = 150
BAR = 20
GAP = 8
COLORS = {"halter": ("#1b6e53", "#5fb795"), "peer": ("#5a6b7c", "#a3b1bf"), "other": ("#a08a5b", "#d3c49d")}


@dataclass
class Bar:
    """parts add up to the bar's length: the first is drawn dark; low and high are drawn as a whisker."""

    label: str
    parts: tuple
    text: str
    kind: str = "other"
    low: float = 0.0
    high: float = 0.0


def _rectangle(x, y, width, color):
    return '<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>' % (x, y, max(width, 0.5), BAR, color)


def _text(x, y, text, more=""):
    return '<text x="%.1f" y="%.1f" %s>%s</text>' % (x, y, more, escape(text))


def _chart(title, bars, top):
    """One chart that begins at height top: (its lines, where it ends)."""
    lines = [_text(10, top + 16, title, 'class="title"')]
    longest = max([sum(bar.parts) for bar in bars] + [bar.high for bar in bars] + [1e-9])
    scale = (WIDTH - LABEL - RIGHT) / longest
    y = top + 28
    for bar in bars:
        x = float(LABEL)
        middle = y + BAR / 2
        lines.append(_text(LABEL - 8, middle + 4, bar.label, 'text-anchor="end"'))
        for part, color in zip(bar.parts, COLORS[bar.kind]):
            lines.append(_rectangle(x, y, part * scale, color))
            x += part * scale
        if bar.high > bar.low:
            low, high = LABEL + bar.low * scale, LABEL + bar.high * scale
            lines.append('<path d="M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6" stroke="#222" fill="none"/>'
                         % (low, middle, high, low, middle - 3, high, middle - 3))  # fmt: skip
            x = max(x, high)
        lines.append(_text(x + 6, middle + 4, bar.text))
        y += BAR + GAP
    return lines, y + 14


def write(path, heading, legend, charts):
    """charts: (title, bars) each; those without a bar are left out."""
    lines = []
    y = 58
    for title, bars in charts:
        if bars:
            more, y = _chart(title, bars, y)
            lines += more
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" '
        'font-size="13"><style>.title{font-weight:bold}.head{font-size:17px;font-weight:bold}</style>'
        '<rect width="100%%" height="100%%" fill="#fff"/>' % (WIDTH, y, WIDTH, y)
    )
    lines = [head, _text(10, 24, heading, 'class="head"'), _text(10, 44, legend, 'fill="#555"')] + lines + ["</svg>"]
    path.write_text("\n".join(lines) + "\n")
