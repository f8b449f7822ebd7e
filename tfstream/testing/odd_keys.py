"""`ODD_KEYS`: legal keys of S3 and lakeFS that a careless client breaks."""

from __future__ import annotations

ODD_KEYS = (
    "with space.jpg",
    " leading and trailing ",
    "plus+plus.jpg",
    "percent%.jpg",
    "percent%20encoded.jpg",
    "percent%2Fslash.jpg",
    "hash#hash.jpg",
    "question?mark=1&b=2.jpg",
    "star*star.jpg",
    "set[1].jpg",
    "braces{a,b}.jpg",
    "semi;colon:at@dollar$comma,.jpg",
    "quotes'\"`.jpg",
    "less<more>&amp;.jpg",
    "back\\slash.jpg",
    "tab\tin.jpg",
    "line\nbreak.jpg",
    "double//slash.jpg",
    "/leading slash.jpg",
    "dots/../up.jpg",
    "dots/./here.jpg",
    "./first.jpg",
    "...",
    ".hidden/.file.jpg",
    "~tilde.jpg",
    "1",
    "10",
    "e",
    "e/y.jpg",
    "folder with content/",
    "caf\u00e9.jpg",  # é as one code point, NFC
    "cafe\u0301.jpg",  # é as e and an accent, NFD
    "写真/画像.jpg",
    "emoji 🎨.jpg",
)
