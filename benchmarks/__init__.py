"""`make bench`: how fast tfstream reads, beside what people use instead. See README.md."""
