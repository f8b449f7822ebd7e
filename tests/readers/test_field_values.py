"""What a small text field means."""

import pytest

from tfstream.readers.field_values import value_of


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"3", 3),
        (b" -12\n", -12),
        (b"0.5", 0.5),
        (b"1e3", 1000.0),
        (b"cat", "cat"),
        ("é b".encode(), "é b"),
        (b"nan", "nan"),
        (b"Infinity", "Infinity"),
        (b"", ""),
    ],
)
def test_numbers_and_texts(data, value):
    """Whole numbers, numbers, and else texts; no number that is none."""
    found = value_of(data)
    assert (value, type(value)) == (found, type(found))


def test_bytes_that_are_no_text():
    """Bytes of a picture are no label."""
    with pytest.raises(ValueError, match="utf-8"):
        value_of(b"\xff\xd8")
