"""How convolutions, pools and what moves pixels are written as calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.explainer.traced.read_texts import Texts, must, word

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WINDOW_RULES"]

_CHANNELS_LAST = ("NHWC", "NDHWC")


def _convolution(name: str, *, short: bool) -> Callable[[Texts, int], str]:
    """A convolution; `short` where its strides are those over places alone."""

    def rule(op: Texts, _: int) -> str:
        dilations = [int(d) for d in op.attribute("dilations") or ()]
        more = _windows(op, short=short)
        if any(d != 1 for d in dilations):
            must(name != "tf.nn.conv3d")
            more += f", dilations={_over_places(dilations)}"
        return f"{name}({op.x(0)}, {op.x(1)}{more})"

    return rule


def _transposed(name: str) -> Callable[[Texts, int], str]:
    """The way back of a convolution, as a convolution of its own."""

    def rule(op: Texts, _: int) -> str:
        must(all(int(d) == 1 for d in op.attribute("dilations") or ()))
        shape = f", output_shape={list(op.out_shape(0))}"
        return f"{name}({op.x(2)}, {op.x(1)}{shape}{_windows(op, short=True)})"

    return rule


def _pool(name: str) -> Callable[[Texts, int], str]:
    def rule(op: Texts, _: int) -> str:
        size = _over_places(op.attribute("ksize"))
        return f"{name}({op.x(0)}, ksize={size}{_windows(op, short=True)})"

    return rule


def _windows(op: Texts, *, short: bool) -> str:
    padding, strides = word(op.attribute("padding")), op.attribute("strides")
    _channels_last(op)
    must(padding != "EXPLICIT")
    listed = _over_places(strides) if short else [int(step) for step in strides]
    return f", strides={listed}, padding={padding!r}"


def _channels_last(op: Texts) -> None:
    must(word(op.attribute("data_format") or "NHWC") in _CHANNELS_LAST)


def _over_places(sizes: Any) -> list[int]:
    """Of the numbers of a window those for the places, without batch and channels."""
    batch, *places, channels = (int(size) for size in sizes)
    must(batch == channels == 1)
    return places


def _bias(op: Texts, _: int) -> str:
    _channels_last(op)
    return f"tf.nn.bias_add({op.x(0)}, {op.x(1)})"


def _blocks(name: str) -> Callable[[Texts, int], str]:
    def rule(op: Texts, _: int) -> str:
        _channels_last(op)
        return f"{name}({op.x(0)}, {int(op.attribute('block_size'))})"

    return rule


def _resized(op: Texts, _: int) -> str:
    must(bool(op.attribute("half_pixel_centers")) and not op.attribute("align_corners"))
    return f"tf.image.resize({op.x(0)}, {op.plain(1)})"


def _patches(op: Texts, _: int) -> str:
    sizes = {"sizes": "ksizes", "strides": "strides", "rates": "rates"}
    named = "".join(f", {k}={[int(n) for n in op.attribute(a)]}" for k, a in sizes.items())
    padding = word(op.attribute("padding"))
    return f"tf.image.extract_patches({op.x(0)}{named}, padding={padding!r})"


def _damped(op: Texts, _: int) -> str:
    named = ("depth_radius", "bias", "alpha", "beta")
    more = "".join(f", {k}={op.attribute(k)!r}" for k in named)
    return f"tf.nn.local_response_normalization({op.x(0)}{more})"


WINDOW_RULES: dict[str, Callable[[Texts, int], str]] = {
    "AvgPool": _pool("tf.nn.avg_pool2d"),
    "AvgPool3D": _pool("tf.nn.avg_pool3d"),
    "BiasAdd": _bias,
    "Conv2D": _convolution("tf.nn.conv2d", short=True),
    "Conv2DBackpropInput": _transposed("tf.nn.conv2d_transpose"),
    "Conv3D": _convolution("tf.nn.conv3d", short=False),
    "Conv3DBackpropInputV2": _transposed("tf.nn.conv3d_transpose"),
    "DepthToSpace": _blocks("tf.nn.depth_to_space"),
    "DepthwiseConv2dNative": _convolution("tf.nn.depthwise_conv2d", short=False),
    "ExtractImagePatches": _patches,
    "LRN": _damped,
    "MaxPool": _pool("tf.nn.max_pool2d"),
    "MaxPool3D": _pool("tf.nn.max_pool3d"),
    "ResizeBilinear": _resized,
    "SpaceToDepth": _blocks("tf.nn.space_to_depth"),
}
"""By kind of op that slides over places or moves them."""
