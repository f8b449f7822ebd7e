"""
One worker of a training by `MultiWorkerMirroredStrategy`, in a process of its own.

```
python strategy_worker.py BUCKET      TF_CONFIG says which; prints the numbers that it trained on
```

The loop is written out: `model.fit` of Keras 3 fails under this strategy with any dataset of
pairs (seen with Keras 3.12 and 3.15).
"""

from __future__ import annotations

import sys

import tensorflow as tf

import tfstream

BATCH, EPOCHS = 12, 2
"""Of all workers together, as the strategy has it. 160 pictures: the last one is not full."""


def main(bucket: str) -> None:
    """Train one number by pictures."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    mine = tfstream.from_s3(
        bucket,
        image_size=(4, 4),
        color_mode="grayscale",
        labels=None,
        batch_size=BATCH,
        num_shards="auto",
        verbose=False,
    )
    with strategy.scope():
        weight = tf.Variable(0.0)

    def replica(images: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(weight * images)
        context = tf.distribute.get_replica_context()
        gradient = context.all_reduce("SUM", tape.gradient(loss, weight))
        weight.assign_sub(0.001 * gradient)
        return images[:, 0, 0, 0]

    step = tf.function(lambda images: strategy.run(replica, (images,)), reduce_retracing=True)
    for images in strategy.experimental_distribute_dataset(mine.epochs(EPOCHS)):
        for part in strategy.experimental_local_results(step(images)):
            print(*part.numpy().astype(int), end=" ")
    print(f"\n{weight.numpy():.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
