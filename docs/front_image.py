"""The picture of the first page and of the README: a panel before and after, drawn from the package's answer.

Run `python docs/front_image.py` to draw it again; a test compares the file with what this draws.
"""

from pathlib import Path

import coherently as co

FILE = Path(__file__).parent / "images" / "before-after.svg"
FORECASTS = [
    ("Alice", "rain", 0.75),
    ("Alice", "wind", 0.20),
    ("Alice", "rain & wind", 0.10),
    ("Bob", "rain", 0.60),
    ("Bob", "rain & wind", 0.40),
    ("Chris", "wind", 0.00),
    ("Chris", "rain & wind", 0.10),
]
"""The panel of the README."""
NAMES = {"rain": "rain", "wind": "wind", "rain & wind": "rain and wind"}
LEFT, WIDTH, FIRST, STEP = 150, 320, 54, 44
STYLE = (
    "text{font:15px system-ui,sans-serif;fill:#5c6270}.b{font-weight:600;fill:#1d4ed8}.h{stroke:#9aa1ad;stroke-width:1}"
    ".m{stroke:#1d4ed8;stroke-width:3}.r{fill:none;stroke:#5c6270;stroke-width:2.5}.d{fill:#1d4ed8}"
    "@media(prefers-color-scheme:dark){text{fill:#b6bcc8}.b{fill:#8ab4ff}.m{stroke:#8ab4ff}.r{stroke:#b6bcc8}.d{fill:#8ab4ff}}"
)


def draw() -> str:
    """The picture as SVG."""
    result = co.aggregate(co.Panel.from_records(FORECASTS))
    table = result.frame()
    rows = zip(table["event"], table["raw"], table["probability"], strict=True)
    marks = [_row(FIRST + STEP * i, NAMES[event], raw, value) for i, (event, raw, value) in enumerate(rows)]
    height = FIRST + STEP * len(NAMES) - 8
    legend = (
        f'<circle class="r" cx="{LEFT + 6}" cy="16" r="6"/><text x="{LEFT + 20}" y="21">average of the judges</text>'
        f'<circle class="d" cx="{LEFT + 206}" cy="16" r="6"/><text x="{LEFT + 220}" y="21">coherent</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 120} {height}" role="img">'
        f"<style>{STYLE}</style>{legend}{''.join(marks)}</svg>\n"
    )


def _row(y: int, name: str, raw: float, value: float) -> str:
    before, after = LEFT + WIDTH * raw, LEFT + WIDTH * value
    moved = f"{raw:.0%} → {value:.0%}" if round(raw, 2) != round(value, 2) else f"{value:.0%}"
    return (
        f'<text x="0" y="{y + 5}">{name}</text><line class="h" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y}" y2="{y}"/>'
        f'<line class="m" x1="{before:.1f}" x2="{after:.1f}" y1="{y}" y2="{y}"/>'
        f'<circle class="r" cx="{before:.1f}" cy="{y}" r="8"/><circle class="d" cx="{after:.1f}" cy="{y}" r="5"/>'
        f'<text class="b" x="{LEFT + WIDTH + 16}" y="{y + 5}">{moved}</text>'
    )


if __name__ == "__main__":
    FILE.write_text(draw(), "utf-8")
