"""What two specs do not have in common, in lines for people."""

from __future__ import annotations

from dataclasses import replace

from tfstream.decoders.image import ImageDecoder
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.s3 import S3Source
from tfstream.spec import DatasetSpec, Shard
from tfstream.spec.difference import differences

SPEC = DatasetSpec(source=S3Source(bucket="photos", pattern="train/**"), decoder=ImageDecoder())


def test_equal_specs():
    """They have no difference."""
    assert [] == differences(SPEC, SPEC.replace())


def test_each_field_has_its_line():
    """With its place in the JSON, and both values."""
    other = SPEC.replace(order=replace(SPEC.order, seed=1), batch_size=None)
    assert ["$.batch_size: 32 there, None here", "$.order.seed: 0 there, 1 here"] == differences(
        SPEC, other
    )


def test_parts_that_one_does_not_have():
    """A part that is absent, and another class with other fields."""
    lines = differences(SPEC, SPEC.replace(shard=Shard(num_shards=2, index=1)))
    assert 1 == len(lines)
    assert lines[0].startswith("$.shard: None there, {")
    source = LakeFSSource(repository="photos", ref="main", pattern="train/**")
    lines = differences(SPEC, SPEC.replace(source=source))
    assert "$.source.bucket: 'photos' there, nothing here" in lines
    assert "$.source.name: 's3' there, 'lakefs' here" in lines
