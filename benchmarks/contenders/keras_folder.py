"""`keras.utils.image_dataset_from_directory` on the local disk, as its documentation has it."""

from __future__ import annotations

import keras
import tensorflow as tf

from benchmarks.job import BATCH, SIZE, Job
from benchmarks.measure import main


def open_batches(job: Job) -> tf.data.Dataset:
    dataset = keras.utils.image_dataset_from_directory(
        job.folder, image_size=(SIZE, SIZE), batch_size=BATCH, seed=1, verbose=False
    )
    return dataset.prefetch(tf.data.AUTOTUNE)


if __name__ == "__main__":
    main(open_batches)
