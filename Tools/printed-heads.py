"""Reads the text of a page on paper, and prints a line for each row of column heads that is not there as a whole: a
table that stayed folded, or one whose last columns are cut off.

    pdftotext -raw PAGE.pdf - | python3 Tools/printed-heads.py PAGE.html

Words are compared without spaces, since a narrow column breaks them. The first head of a row stands by itself: it stays
in view when the table scrolls, and so is drawn after the others.
"""
import sys
import unicodedata
from html.parser import HTMLParser


def letters(text):
    # A font may print the two letters of `fi` as one sign.
    return "".join(unicodedata.normalize("NFKC", text).split())


class Heads(HTMLParser):
    """The rows in the heads of all tables, each a list of cells."""

    def __init__(self):
        super().__init__()
        self.rows = []
        self.in_head = self.in_cell = False

    def handle_starttag(self, tag, attributes):
        if tag == "thead":
            self.in_head = True
        elif tag == "tr" and self.in_head:
            self.rows.append([])
        elif tag == "th" and self.in_head:
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        if tag == "thead":
            self.in_head = False
        elif tag == "th":
            self.in_cell = False

    def handle_data(self, data):
        if self.in_cell:
            self.rows[-1][-1] += data


heads = Heads()
with open(sys.argv[1], encoding="utf-8") as page:
    heads.feed(page.read())
paper = letters(sys.stdin.read())
for row in dict.fromkeys(tuple(row) for row in heads.rows if row):
    if any(letters(part) not in paper for part in (row[0], "".join(row[1:]))):
        print(f"not on paper: the heads {', '.join(row)}")
