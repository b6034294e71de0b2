"""The pictures of the gallery: runs the blocks of its pages, saves what they draw (`python docs/gallery_images.py`)."""

import doctest
import re
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).parent
PICTURE = re.compile(r"^!\[[^\]]*\]\(\.\./images/(gallery-[\w-]+\.svg)\)$", re.MULTILINE)


def draw(page: Path, folder: Path) -> list[str]:
    """Run a page up to each picture in turn and save the axes that the last block has left; gives the names."""
    import matplotlib.pyplot as plt

    text, known, begun, saved = page.read_text("utf-8"), {}, 0, []
    for picture in PICTURE.finditer(text):
        for example in doctest.DocTestParser().get_examples(text[begun : picture.start()]):
            exec(compile(example.source, str(page), "exec"), known)
        begun = picture.end()
        known["ax"].figure.set_size_inches(7, 3.6)
        known["ax"].figure.savefig(folder / picture[1], metadata={"Date": None})
        plt.close("all")
        saved.append(picture[1])
    return saved


if __name__ == "__main__":
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "gallery"
    for each in sorted((DOCS / "gallery").glob("*.md")):
        print(*draw(each, DOCS / "images"), sep="\n")
