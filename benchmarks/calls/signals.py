"""Fourier transforms, signals and images."""

from __future__ import annotations

import numpy as np

from benchmarks.calls.declaration import C64, C128, F32, F64, given, op
from benchmarks.subjects import normal, uniform

FAMILY = "signals and images"

CALLS = (
    op("fft of 4", FAMILY, C64, normal((4,)), lambda tf: tf.signal.fft),
    op("fft2d 4×4", FAMILY, C64, normal((4, 4)), lambda tf: tf.signal.fft2d),
    op("ifft 3×8", FAMILY, C128, normal((3, 8)), lambda tf: tf.signal.ifft),
    op(
        "energy of an fft of 4, by real and imaginary parts",
        FAMILY,
        F32,
        normal((4,), (4,)),
        lambda tf: lambda x, y: tf.reduce_sum(tf.abs(tf.signal.fft(tf.complex(x, y))) ** 2),
    ),
    op("fft of 128", FAMILY, C64, normal((128,)), lambda tf: tf.signal.fft),
    op("rfft of 8", FAMILY, F32, normal((8,)), lambda tf: tf.signal.rfft),
    op("irfft of 5", FAMILY, C64, normal((5,)), lambda tf: lambda x: tf.signal.irfft(x, [8])),
    op("dct of 16", FAMILY, F32, normal((16,)), lambda tf: tf.signal.dct),
    op("stft of 64", FAMILY, F64, normal((64,)), lambda tf: lambda x: tf.signal.stft(x, 16, 8)),
    op("frame of 32", FAMILY, F32, normal((32,)), lambda tf: lambda x: tf.signal.frame(x, 8, 4)),
    op(
        "resize bilinear 1×3×4×2",
        FAMILY,
        F32,
        normal((1, 3, 4, 2)),
        lambda tf: lambda x: tf.image.resize(x, [6, 5]),
    ),
    op(
        "resize bicubic 1×4×6×1",
        FAMILY,
        F32,
        normal((1, 4, 6, 1)),
        lambda tf: lambda x: tf.image.resize(x, [2, 3], "bicubic"),
    ),
    op(
        "resize nearest 1×2×3×1",
        FAMILY,
        F32,
        normal((1, 2, 3, 1)),
        lambda tf: lambda x: tf.image.resize(x, [4, 6], "nearest"),
    ),
    op(
        "resize with antialiasing 1×6×6×1",
        FAMILY,
        F32,
        normal((1, 6, 6, 1)),
        lambda tf: lambda x: tf.image.resize(x, [3, 3], antialias=True),
    ),
    op(
        "crop and resize 1×5×5×2",
        FAMILY,
        F32,
        normal((1, 5, 5, 2)),
        lambda tf: lambda x: tf.image.crop_and_resize(x, [[0.05, 0.1, 0.75, 0.9]], [0], [3, 3]),
    ),
    op(
        "rgb to hsv 3×3",
        FAMILY,
        F32,
        given(np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])),
        lambda tf: tf.image.rgb_to_hsv,
    ),
    op(
        "structural similarity 1×12×12×1",
        FAMILY,
        F32,
        uniform(0.1, 0.9, (1, 12, 12, 1)),
        lambda tf: lambda x: tf.image.ssim(x, tf.roll(x, 1, 1), 1.0, filter_size=5),
    ),
    op(
        "image patches 1×6×6×2",
        FAMILY,
        F64,
        normal((1, 6, 6, 2)),
        lambda tf: (
            lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1] * 4, "VALID")
        ),
    ),
    op(
        "total variation 1×5×5×3",
        FAMILY,
        F32,
        normal((1, 5, 5, 3)),
        lambda tf: tf.image.total_variation,
    ),
)
