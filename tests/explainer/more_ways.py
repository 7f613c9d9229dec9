"""Ways to use the ops that came later in an expression, as `grammar.py` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from gradcheck.model import Shape

Way: TypeAlias = tuple[str, str, tuple[int, ...]]

_POSITIVE = "(tf.square({}) + 0.5)"


def _apart(text: str, shape: Shape) -> str:
    """The value, moved so that no two elements tie."""
    ramp = np.arange(float(np.prod(shape, dtype=np.int64))).reshape(shape).tolist()
    return f"(0.1 * tf.tanh({text}) + {ramp})"


def more_ways(text: str, shape: Shape) -> list[list[Way]]:
    """By kind."""
    if not shape:
        return [[("square", f"tf.square({text})", ())]]
    return [
        _segments(text, shape),
        _scatters(text, shape),
        _losses(text, shape),
        _convolutions(text, shape),
        _orders(text, shape),
        _matrices(text, shape),
        _images(text, shape),
        _basics(text, shape),
    ]


def _segments(text: str, shape: Shape) -> list[Way]:
    n, rest = shape[0], shape[1:]
    ids = [0] * ((n + 1) // 2) + [1] * (n // 2)
    count = ids[-1] + 1
    values = {"prod": _POSITIVE.format(text), "max": _apart(text, shape)}
    values["min"] = values["max"]
    return [
        *(
            (
                f"segment_{kind}",
                f"tf.math.segment_{kind}({values.get(kind, text)}, {ids})",
                (count, *rest),
            )
            for kind in ("sum", "mean", "max", "min", "prod")
        ),
        *(
            (
                f"unsorted_segment_{kind}",
                f"tf.math.unsorted_segment_{kind}({values.get(kind, text)}, {ids}, {count})",
                (count, *rest),
            )
            for kind in ("sum", "mean", "max", "min", "prod", "sqrt_n")
        ),
    ]


def _scatters(text: str, shape: Shape) -> list[Way]:
    update, apart = f"tf.sin({text})[:1]", f"({text}[:1] + 2.0)"
    return [
        *(
            (
                f"tensor_scatter_nd_{kind}",
                f"tf.tensor_scatter_nd_{kind}({text}, [[0]], {update})",
                shape,
            )
            for kind in ("add", "sub", "update")
        ),
        *(
            (
                f"tensor_scatter_nd_{kind}",
                f"tf.tensor_scatter_nd_{kind}({text}, [[0]], {apart})",
                shape,
            )
            for kind in ("max", "min")
        ),
    ]


def _losses(text: str, shape: Shape) -> list[Way]:
    """Targets that are no constant, so that both gradients are seen."""
    positive, share = _POSITIVE.format(text), f"(0.1 + 0.8 * tf.sigmoid({text}))"
    other = f"(0.1 + 0.8 * tf.sigmoid(tf.sin({text})))"
    plain = ("MSE", "huber", "logcosh", "hinge", "squared_hinge")
    names = {
        "MSE": "mean_squared_error", "MAE": "mean_absolute_error", "logcosh": "log_cosh",
        "MAPE": "mean_absolute_percentage_error", "MSLE": "mean_squared_logarithmic_error",
        "KLD": "kl_divergence",
    }  # fmt: skip
    pairs = dict.fromkeys(plain, (f"tf.sin({text})", text))
    pairs |= dict.fromkeys(("MAE", "MAPE", "MSLE", "poisson"), (positive, f"(2.0 + {positive})"))
    pairs |= dict.fromkeys(("KLD", "binary_crossentropy"), (share, other))
    if shape and shape[-1] > 1:  # (The share of a single class is one, whatever it is.)
        pairs["categorical_crossentropy"] = share, other
    pairs["cosine_similarity"] = (positive, f"(tf.sin({text}) + 2.0)")
    return [
        (names.get(name, name), f"tf.keras.losses.{name}({a}, {b})", shape[:-1])
        for name, (a, b) in pairs.items()
    ]


def _convolutions(text: str, shape: Shape) -> list[Way]:
    size = int(np.prod(shape, dtype=np.int64))
    row, volume = f"tf.reshape({text}, [1, -1, 1])", f"tf.reshape({text}, [1, -1, 1, 1, 1])"
    image = f"tf.reshape({text}, [1, -1, 1, 1])"
    ramp = np.arange(float(size))
    pool = f"ksize=2, strides=1, padding={'SAME'!r}"
    wide, twice = (1, size, 1, 1, 1), 2 * size
    return [
        ("avg_pool1d", f"tf.nn.avg_pool1d({row}, {pool})", (1, size, 1)),
        (
            "max_pool1d",
            f"tf.nn.max_pool1d(0.1 * tf.tanh({row}) + {ramp.reshape(1, -1, 1).tolist()}, {pool})",
            (1, size, 1),
        ),
        (
            "conv3d",
            f"tf.nn.conv3d({volume}, tf.reshape({text}, [-1, 1, 1, 1, 1]), [1, 1, 1, 1, 1], "
            "'SAME')",
            wide,
        ),
        (
            "conv1d_transpose",
            f"tf.nn.conv1d_transpose({row}, tf.reshape({text}, [-1, 1, 1]), [1, {twice}, 1], 2)",
            (1, twice, 1),
        ),
        (
            "conv2d_transpose",
            f"tf.nn.conv2d_transpose({image}, tf.reshape({text}, [-1, 1, 1, 1]), "
            f"[1, {twice}, 2, 1], 2)",
            (1, twice, 2, 1),
        ),
        (
            "conv3d_transpose",
            f"tf.nn.conv3d_transpose({volume}, tf.reshape({text}, [-1, 1, 1, 1, 1]), "
            f"[1, {size}, 1, 1, 1], 1)",
            wide,
        ),
        (
            "depthwise_conv2d",
            f"tf.nn.depthwise_conv2d({image}, tf.reshape({text}, [-1, 1, 1, 1]), [1, 1, 1, 1], "
            "'SAME')",
            (1, size, 1, 1),
        ),
    ]


def _orders(text: str, shape: Shape) -> list[Way]:
    apart = _apart(text, shape)
    return [
        ("sort", f"tf.sort({apart})", shape),
        ("sort", f"tf.sort({apart}, 0, 'DESCENDING')", shape),
        ("top_k", f"tf.math.top_k({apart}, k=1)[0]", (*shape[:-1], 1)),
        ("cumulative_logsumexp", f"tf.math.cumulative_logsumexp(tf.sin({text}), 0)", shape),
    ]


def _matrices(text: str, shape: Shape) -> list[Way]:
    if len(shape) < 2:
        return [("square", f"tf.square({text})", shape)]
    rows, columns, batch = shape[-2], shape[-1], shape[:-2]
    square = (*batch, rows, rows)
    apart = [[float(2 * i + 1) * (i == j) for j in range(rows)] for i in range(rows)]
    product = f"tf.matmul(tf.tanh({text}), tf.tanh({text}), transpose_b=True)"
    safe = f"(0.1 * {product} + {apart})"
    return [
        ("expm", f"tf.linalg.expm(0.3 * {safe})", square),
        ("sqrtm", f"tf.linalg.sqrtm({safe})", square),
        ("pinv", f"tf.linalg.pinv({safe})", square),
        ("lstsq", f"tf.linalg.lstsq({safe}, {text})", shape),
        ("slogdet", f"tf.linalg.slogdet({safe})[1]", batch),
        ("eigh", f"tf.square(tf.linalg.eigh({safe})[1])", square),
        ("svd", f"tf.square(tf.linalg.svd({safe})[1])", square),
        ("svd", f"tf.square(tf.linalg.svd({safe})[2])", square),
        (
            "cholesky_solve",
            f"tf.linalg.cholesky_solve(tf.linalg.band_part({safe}, -1, 0), {text})",
            (*batch, rows, columns),
        ),
    ]


def _images(text: str, shape: Shape) -> list[Way]:
    size, n = int(np.prod(shape, dtype=np.int64)), shape[-1]
    four = f"tf.reshape(tf.stack([{text}, {text}, {text}, {text}]), [1, 2, -1, 1])"
    deep = f"tf.reshape(tf.stack([{text}, {text}, {text}, {text}]), [1, 1, -1, 4])"
    image = f"tf.reshape({text}, [1, 1, -1, 1])"
    return [
        ("space_to_depth", f"tf.nn.space_to_depth({four}, 2)", (1, 1, size, 4)),
        ("depth_to_space", f"tf.nn.depth_to_space({deep}, 2)", (1, 2, 2 * size, 1)),
        ("flip_left_right", f"tf.image.flip_left_right({image})", (1, 1, size, 1)),
        ("flip_up_down", f"tf.image.flip_up_down({image})", (1, 1, size, 1)),
        (
            "extract_patches",
            f"tf.image.extract_patches({image}, [1, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
            (1, 1, size, 2),
        ),
        ("frame", f"tf.signal.frame({text}, 1, 1)", (*shape, 1)),
        (
            "overlap_and_add",
            f"tf.signal.overlap_and_add(tf.stack([{text}, {text}], -2), 1)",
            (*shape[:-1], n + 1),
        ),
        ("dct", f"tf.signal.dct({text}, norm='ortho')", shape),
        ("idct", f"tf.signal.idct({text}, norm='ortho')", shape),
    ]


def _basics(text: str, shape: Shape) -> list[Way]:
    n, rest = shape[0], shape[1:]
    mask = [i % 2 == 0 for i in range(n)]
    positive = _POSITIVE.format(text)
    found: list[Way] = [
        ("add_n", f"tf.add_n([{text}, tf.sin({text}), {text}])", shape),
        ("glu", f"tf.keras.activations.glu(tf.concat([{text}, tf.sin({text})], 0), 0)", shape),
        ("linspace", f"tf.linspace({text}, tf.sin({text}), 3)", (3, *shape)),
        ("boolean_mask", f"tf.boolean_mask({text}, {mask})", (sum(mask), *rest)),
        ("clip_by_norm", f"tf.clip_by_norm({positive}, 0.1)", shape),
        ("moments", f"tf.nn.moments({text}, [0])[0]", rest),
        ("moments", f"tf.nn.moments({text}, [0])[1]", rest),
        ("normalize", f"tf.linalg.normalize({positive}, axis=0)[0]", shape),
    ]
    if len(shape) > 1:
        diagonal = f"tf.linalg.diag_part({text})"
        found += [
            ("adjoint", f"tf.linalg.adjoint({text})", (*shape[:-2], shape[-1], shape[-2])),
            ("set_diag", f"tf.linalg.set_diag({text}, tf.sin({diagonal}))", shape),
        ]
    return found
