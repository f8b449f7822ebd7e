"""From a description to an open stream: readers, labels and classes that are found, and pins."""

from __future__ import annotations

import gzip
import struct

import pytest

from tfstream.decoders.image import ImageDecoder
from tfstream.decoders.raw import RawDecoder
from tfstream.errors import ObjectChangedError, ObjectNotFoundError, ShardError, SpecError
from tfstream.fetch.handles import known_manifest, shared
from tfstream.fetch.manifest import Manifest
from tfstream.fetch.opening import Wanted, opened, pinned
from tfstream.fetch.stats import Counts
from tfstream.labels.directory import DirectoryLabels
from tfstream.labels.given import ListLabels, MappingLabels
from tfstream.labels.idx import IdxLabels
from tfstream.labels.images import ImageLabels
from tfstream.options import ReadOptions
from tfstream.readers.file import FileReader
from tfstream.readers.idx import IdxReader
from tfstream.sources.fsspec import FsspecSource
from tfstream.sources.lakefs import LakeFSSource
from tfstream.sources.local import LocalSource
from tfstream.spec import DatasetSpec
from tfstream.testing.images import encode, noise

OPTIONS = ReadOptions(attempts=1)
SOURCE = FsspecSource(root="mine://data")


def found_in(files, pattern="**", **wanted):
    """What is found in the folder /data of a filesystem."""
    source = FsspecSource(root="mine://data", pattern=pattern)
    return pinned(Wanted(source, **wanted), files.credentials, OPTIONS)


def by_folder(files, pattern="**", **wanted):
    return found_in(files, pattern, labels=DirectoryLabels(), **wanted)


def rows(found):
    return list(zip(found.manifest.objects.paths, found.manifest.labels.tolist(), strict=True))


def spec_of(found, **fields):
    return DatasetSpec(
        source=found.source,
        decoder=found.raw or ImageDecoder(),
        manifest=found.manifest.digest,
        records=found.manifest.count,
        reader=found.reader,
        labels=found.labels,
        label_mode="int" if found.labels else None,
        class_names=found.class_names,
        **fields,
    )


def idx(count, *shape, start=0):
    """An IDX file of bytes that count up."""
    size = count
    for side in shape:
        size *= side
    header = struct.pack(f">HBB{1 + len(shape)}I", 0, 8, 1 + len(shape), count, *shape)
    return header + bytes((start + at) % 256 for at in range(size))


class TestReaders:
    """What objects are is told by their names and first bytes."""

    def test_images(self, files):
        """Names of image formats are single files."""
        files.put_all("1.jpg", "2.PNG")
        found = found_in(files)
        assert FileReader() == found.reader
        assert found.raw is None
        assert [] == files.reads  # the names were enough

    def test_idx_by_name(self, files):
        """Names of IDX files are shards; the header tells shape and count."""
        files.put_all("t10k-images-idx3-ubyte.gz", data=gzip.compress(idx(5, 3, 2)))
        found = found_in(files)
        assert IdxReader() == found.reader
        assert ((3, 2), 5) == (found.raw.shape, found.manifest.count)

    def test_idx_by_content(self, files):
        """An IDX file under any name is known by its first bytes."""
        files.put_all("digits.bin", data=idx(5, 3, 2))
        assert IdxReader() == found_in(files, "*.bin").reader

    def test_images_by_content(self, files):
        """So is an image."""
        files.put_all("digits.bin", data=encode(noise(), "PNG"))
        assert FileReader() == found_in(files, "*.bin").reader

    def test_neither(self, files):
        """Where the first object is neither, the error says what it is and what there is."""
        files.put_all("a.csv", "b.csv", data=b"name,label")
        with pytest.raises(ObjectNotFoundError) as error:
            found_in(files, "*.csv")
        assert "nothing decodable matches mine://data/*.csv: 'a.csv' is" in str(error.value)
        assert "2 x .csv" in str(error.value)

    def test_a_mixture(self, files):
        """Images and IDX files together are an error that counts both."""
        files.put_all("1.jpg", "2.jpg", "3.png")
        files.put_all("t10k-images-idx3-ubyte", data=idx(5, 3, 2))
        with pytest.raises(SpecError) as error:
            found_in(files)
        assert "3 images and 1 idx files" in str(error.value)
        assert "2 x .jpg" in str(error.value)
        assert "narrow the pattern" in str(error.value)

    def test_a_mixture_with_a_reader(self, files):
        """A reader that is named takes its own files and leaves out the others."""
        files.put_all("1.jpg")
        files.put_all("t10k-images-idx3-ubyte", data=idx(5, 3, 2))
        for reader, key in [(FileReader(), "1.jpg"), (IdxReader(), "t10k-images-idx3-ubyte")]:
            found = found_in(files, reader=reader)
            assert [key] == list(found.manifest.objects.paths)
            assert {"not data": 1} == found.reading.counts.snapshot().left_out


class TestClasses:
    """Class folders, in Keras' manner."""

    def test_order(self, files):
        """Records go class by class in the order of the names, inside a class by key."""
        files.put_all("dog/2.jpg", "dog/1.jpg", "cat/9.jpg", "cat/deep/1.jpg", "Z/1.jpg")
        found = by_folder(files)
        assert ("Z", "cat", "dog") == found.class_names
        expected = [("Z/1.jpg", 0), ("cat/9.jpg", 1), ("cat/deep/1.jpg", 1)]
        assert [*expected, ("dog/1.jpg", 2), ("dog/2.jpg", 2)] == rows(found)

    def test_below_the_prefix(self, files):
        """The class is the first folder after what comes before the wildcards."""
        files.put_all("train/a/1.jpg", "train/b/2.jpg", "test/a/3.jpg")
        assert [("train/a/1.jpg", 0), ("train/b/2.jpg", 1)] == rows(by_folder(files, "train"))
        assert ("test", "train") == by_folder(files).class_names

    def test_an_order_of_ones_own(self, files):
        """`class_names` orders the classes and the records."""
        files.put_all("a/1.jpg", "b/2.jpg", "c/3.jpg")
        found = by_folder(files, class_names=("c", "a", "b"))
        assert [("c/3.jpg", 0), ("a/1.jpg", 1), ("b/2.jpg", 2)] == rows(found)

    def test_some_of_them(self, files):
        """A class that `class_names` leaves out is left out and counted."""
        files.put_all("a/1.jpg", "b/2.jpg", "c/3.jpg")
        found = by_folder(files, class_names=("c", "a"))
        assert [("c/3.jpg", 0), ("a/1.jpg", 1)] == rows(found)
        assert [1] == list(found.reading.counts.snapshot().left_out.values())

    def test_names_that_are_not_there(self, files):
        """A name without a folder is an error that says which folders there are."""
        files.put_all("a/1.jpg", "b/2.jpg")
        with pytest.raises(ValueError, match=r"Expected: \['a', 'b'\].*received.*\['a', 'x'\]"):
            by_folder(files, class_names=("a", "x"))

    def test_files_beside_class_folders(self, files):
        """A file in no class folder is left out and counted."""
        files.put_all("1.jpg", "a/1.jpg", "b/2.jpg")
        found = by_folder(files)
        assert [("a/1.jpg", 0), ("b/2.jpg", 1)] == rows(found)
        assert [1] == list(found.reading.counts.snapshot().left_out.values())

    def test_no_class_folder(self, files):
        """Images without folders are an error that offers `labels=None`."""
        files.put_all("1.jpg", "2.jpg")
        with pytest.raises(ValueError, match=r"no class folders.*labels=None"):
            by_folder(files)

    def test_one_class(self, files):
        """One class alone is an error that says how to keep it, which works."""
        files.put_all("a/1.jpg", "a/2.jpg")
        with pytest.raises(ValueError, match=r"only one class folder, 'a'.*class_names=\['a'\]"):
            by_folder(files)
        assert ("a",) == by_folder(files, class_names=("a",)).class_names

    def test_an_empty_class(self, files):
        """A class folder without any file is an error, unless the others are asked for."""
        files.put_all("a/1.jpg", "b/2.jpg", "empty/", ".hidden/", "a/deep/")
        with pytest.raises(ValueError, match=r"class folder 'empty'.*is empty"):
            by_folder(files)
        assert ("a", "b") == by_folder(files, class_names=("a", "b")).class_names

    def test_a_class_without_images(self, files):
        """A folder of what is no data is no class, and its files are counted."""
        files.put_all("a/1.jpg", "b/2.jpg", "notes/README.md")
        found = by_folder(files)
        assert ("a", "b") == found.class_names
        assert {"not data": 1} == found.reading.counts.snapshot().left_out


class TestGivenLabels:
    """Labels as a list or a mapping."""

    def test_a_list(self, files):
        """One number for each file, in the order of the keys, which stays."""
        files.put_all("b.jpg", "a.jpg", "c.jpg")
        found = found_in(files, labels=ListLabels(values=(5, 0, 5)))
        assert [("a.jpg", 5), ("b.jpg", 0), ("c.jpg", 5)] == rows(found)

    @pytest.mark.parametrize("values", [(1,), (1, 2, 3)])
    def test_a_list_of_another_length(self, files, values):
        """Another number of labels than of files is an error with both."""
        files.put_all("a.jpg", "b.jpg")
        with pytest.raises(ValueError, match=f"is {len(values)} while we found 2 files"):
            found_in(files, labels=ListLabels(values=values))

    @pytest.mark.parametrize("value", [-1, 2**40])
    def test_no_int32(self, files, value):
        """A label that is no class number of 32 bits is refused."""
        files.put_all("1.jpg")
        with pytest.raises(ValueError, match=f"Received: {value}"):
            found_in(files, labels=ListLabels(values=(value,)))

    def test_a_mapping(self, files):
        """Each key has its number."""
        files.put_all("b.jpg", "x/a.jpg")
        found = found_in(files, labels=MappingLabels(values={"x/a.jpg": 1, "b.jpg": 0}))
        assert [("b.jpg", 0), ("x/a.jpg", 1)] == rows(found)

    @pytest.mark.parametrize("values", [{"a.jpg": 1}, {"a.jpg": 1, "b.jpg": 0, "c.jpg": 1}])
    def test_a_mapping_that_does_not_match(self, files, values):
        """A file without label, or a label without file, is an error that names one."""
        files.put_all("a.jpg", "b.jpg")
        with pytest.raises(ValueError, match=r"'b.jpg'" if len(values) == 1 else r"'c.jpg'"):
            found_in(files, labels=MappingLabels(values=values))


class TestIdx:
    """IDX files with their labels."""

    @pytest.fixture
    def digits(self, files):
        files.put_all("a-images-idx3-ubyte", data=idx(4, 2, 2))
        files.put_all("a-labels-idx1-ubyte", data=idx(4))
        return files

    def test_pairs(self, digits):
        """Images and labels are paired by name; values are the classes."""
        found = found_in(digits, labels=DirectoryLabels())
        assert IdxLabels() == found.labels
        assert ("0", "1", "2", "3") == found.class_names
        assert ["a-images-idx3-ubyte"] == list(found.manifest.objects.paths)
        assert ["a-labels-idx1-ubyte"] == list(found.manifest.partners.paths)

    def test_names_for_values(self, digits):
        """`class_names` are names for the values, at least as many."""
        names = ("zero", "one", "two", "three", "four")
        assert names == found_in(digits, labels=DirectoryLabels(), class_names=names).class_names
        with pytest.raises(ValueError, match="`class_names` has 2 entries"):
            found_in(digits, labels=DirectoryLabels(), class_names=("zero", "one"))

    def test_another_number_of_labels(self, digits):
        """Labels that are more or fewer than the images are an error with both numbers."""
        digits.put_all("a-labels-idx1-ubyte", data=idx(3))
        with pytest.raises(ShardError, match=r"labels-idx1-ubyte: 3 labels for 4 images"):
            found_in(digits, labels=DirectoryLabels())

    def test_no_labels(self, files):
        """Images without labels are an error that says how the file must be called."""
        files.put_all("a-images-idx3-ubyte", data=idx(4, 2, 2))
        with pytest.raises(
            ValueError, match=r"no labels file for mine://data/a-images.*labels=None"
        ):
            found_in(files, labels=DirectoryLabels())

    def test_shapes_that_differ(self, digits):
        """Shards of two shapes are no dataset: both are named."""
        digits.put_all("b-images-idx3-ubyte", data=idx(4, 3, 3))
        with pytest.raises(ShardError, match=r"b-images-idx3-ubyte: records are uint8 \(3, 3\)"):
            found_in(digits, labels=None)

    def test_a_broken_header(self, files):
        """A file that is called IDX and is none is named with the offset."""
        files.put_all("a-images-idx3-ubyte", data=b"\0\0\x08\x03\0\0")
        with pytest.raises(ShardError, match="mine://data/a-images-idx3-ubyte: truncated") as error:
            found_in(files)
        assert ("a-images-idx3-ubyte", 6) == (error.value.path, error.value.offset)

    @pytest.mark.parametrize("shape", [(0, 3), (1,) * 254])
    def test_shapes_of_no_tensor(self, files, shape):
        """Records without bytes, or of more sides than a tensor may have, are refused by name."""
        files.put_all("t-images-idx3-ubyte", data=idx(2, *shape))
        with pytest.raises(ShardError, match="t-images-idx3-ubyte: its records have"):
            found_in(files)


class TestMasks:
    """Labels that are images: a second listing, paired by stem."""

    LABELS = ImageLabels("masks/**/*.png")

    def test_pairs(self, files):
        """Each image's mask is its partner; a mask of no image is counted."""
        files.put_all("images/a/1.jpg", "images/b.x.jpg", "masks/a/1.png", "masks/b.x.png")
        files.put_all("masks/c.png")
        found = found_in(files, "images/**", labels=self.LABELS)
        assert ["images/a/1.jpg", "images/b.x.jpg"] == list(found.manifest.objects.paths)
        assert ["masks/a/1.png", "masks/b.x.png"] == list(found.manifest.partners.paths)
        assert (None, None) == (found.class_names, found.manifest.labels)
        assert {"mask without an image": 1} == found.reading.counts.snapshot().left_out

    def test_a_missing_mask(self, files):
        """An image without a mask is named, and what its mask should be called."""
        files.put_all("images/a/1.jpg", "images/2.jpg", "masks/2.png")
        with pytest.raises(ValueError, match=r"1 of 2 images have no mask .*'images/a/1\.jpg'.*"):
            found_in(files, "images/**", labels=self.LABELS)

    def test_two_masks(self, files):
        """Two masks of one stem are named."""
        files.put_all("images/1.jpg", "masks/1.png", "masks/1.tif")
        with pytest.raises(ValueError, match=r"'masks/1\.png' and 'masks/1\.tif'"):
            found_in(files, "images/**", labels=ImageLabels("masks/**"))

    def test_no_masks_at_all(self, files):
        """Nothing under the second pattern is the error of an empty match."""
        files.put_all("images/1.jpg")
        with pytest.raises(ObjectNotFoundError, match=r"nothing matches .*masks"):
            found_in(files, "images/**", labels=self.LABELS)

    def test_it_is_in_the_digest(self, files):
        """Other masks are another dataset."""
        files.put_all("images/1.jpg", "masks/1.png")
        first = found_in(files, "images/**", labels=self.LABELS).manifest.digest
        files.put_all("masks/1.png", data=b"other data")
        assert first != found_in(files, "images/**", labels=self.LABELS).manifest.digest


class TestPins:
    """A finished spec is opened only on what was pinned."""

    def test_the_same(self, files):
        """A spec gives the same listing again, in the order that was pinned."""
        files.put_all("a/1.jpg", "b/2.jpg")
        found = by_folder(files, class_names=("b", "a"))
        stream = opened(spec_of(found), files.credentials, OPTIONS)
        assert list(found.manifest.objects) == list(stream.manifest.objects)
        assert [0, 1] == stream.manifest.labels.tolist()

    def test_one_class(self, files):
        """What could be made can be opened: the one class, and less than all classes."""
        files.put_all("a/1.jpg", "b/2.jpg")
        files.makedirs("/data/empty")
        found = by_folder(files, class_names=("b",))
        stream = opened(spec_of(found), files.credentials, OPTIONS)
        assert ["b/2.jpg"] == list(stream.manifest.objects.paths)

    @pytest.mark.parametrize("change", ["more", "less", "larger"])
    def test_another_listing(self, files, change):
        """An object more, less or of another size is `ObjectChangedError`, in this process too."""
        files.put_all("1.jpg", "2.jpg", "3.jpg")
        found = found_in(files)
        if change == "more":
            files.put_all("4.jpg")
        elif change == "less":
            files.rm("/data/2.jpg")
        else:
            files.put_all("2.jpg", data=b"more data")
        with pytest.raises(ObjectChangedError, match=r"mine://data/\*\*"):
            opened(spec_of(found), files.credentials, OPTIONS)

    def test_another_place(self, files, another):
        """A listing that this process has of one place says nothing about another place."""
        files.put_all("1.jpg", "2.jpg")
        other = another()
        other.pipe("/other/1.jpg", b"data")
        spec = spec_of(found_in(files)).replace(source=FsspecSource(root="mine://other"))
        with pytest.raises(ObjectChangedError):
            opened(spec, other.credentials, OPTIONS)

    def test_only_commits_are_known(self):
        """What was listed is taken for known where it cannot change: at the very same commit."""
        commit = LakeFSSource(repository="photos", ref="main", commit="a" * 64)
        elsewhere = LakeFSSource(
            repository="photos", ref="main", commit="a" * 64, endpoint="http://127.0.0.1:1"
        )
        branch = LakeFSSource(repository="photos", ref="main")
        folder = LocalSource(root="photos")
        manifest = Manifest(found_objects())
        for source in (commit, branch, folder):
            assert manifest is shared(source, manifest)
        assert manifest is known_manifest(commit, manifest.digest)
        assert manifest is shared(commit, Manifest(found_objects()))
        unknown = [(branch, manifest.digest), (folder, manifest.digest), (commit, "sha256:else")]
        for source, digest in [*unknown, (elsewhere, manifest.digest), (commit, None)]:
            assert known_manifest(source, digest) is None

    def test_a_known_commit_is_not_listed(self):
        """Opening a spec of a known commit sends nothing: there is no server here."""
        source = LakeFSSource(
            repository="photos", ref="main", commit="b" * 64, endpoint="http://127.0.0.1:1"
        )
        manifest = shared(source, Manifest(found_objects()))
        spec = DatasetSpec(source=source, decoder=ImageDecoder(), manifest=manifest.digest)
        credentials = {"access_key_id": "a", "secret_access_key": "b"}
        assert manifest is opened(spec, credentials, OPTIONS).manifest

    def test_parts_that_do_not_go_together(self, files):
        """A spec of legal parts that contradict each other, or the data, is refused."""
        files.put_all("1.jpg")
        spec = spec_of(found_in(files))
        raw = RawDecoder(dtype="uint8", shape=(2,))
        with pytest.raises(SpecError, match=r"\$\.decoder: the decoder 'raw' does not fit"):
            opened(spec.replace(decoder=raw), files.credentials, OPTIONS)
        with pytest.raises(SpecError, match=r"\$\.records: 5, but there are 1"):
            opened(spec.replace(records=5), files.credentials, OPTIONS)

    def test_counts_of_the_caller(self, files):
        """The look at the source is counted where the caller says."""
        files.put_all("1.jpg", "README.md")
        counts = Counts()
        pinned(Wanted(SOURCE), files.credentials, OPTIONS, counts)
        assert {"not data": 1} == counts.snapshot().left_out


def found_objects():
    """Some listing."""
    from tfstream.fetch.columns import Objects
    from tfstream.sources.base import ObjectInfo

    return Objects.of([ObjectInfo("1.jpg", 4, "etag")])
