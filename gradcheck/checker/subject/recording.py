"""What a function under test does while it is called: which ops run, which variables they touch.

A callback of TensorFlow's would come after each op; what an op is about to overwrite has to be read
before. So for the time of one call the two functions through which every eager op goes are ours.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.known_kernels import REDUCING_ALONG, counts_from_the_front
from gradcheck.checker.subject.op_inputs import (
    ATTRIBUTES,
    listed,
    may_take_resources,
    plain_inputs,
    precision_of,
)
from gradcheck.checker.subject.private_names import (
    Absent,
    Private,
    definition_of_function,
    definition_of_op,
    private,
    replaced,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_READS = frozenset(
    {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp"}
)
"""Ops that take a resource and leave it as it is."""

_READ = frozenset({"ReadVariableOp"})

_WRITES = (
    *("Assign", "Resource", "Rng", "DestroyResource"),
    *("StatefulRandom", "StatefulStandard", "StatefulTruncated", "StatefulUniform"),
)
"""How the names of ops begin that may change a resource, but for those that read it."""


@dataclass(slots=True, eq=False)
class Resource:
    """A variable, or another resource, that some op was given."""

    handle: Any
    before: Any
    """The variable's value before the call; None for a resource that is no variable."""
    read_first: bool
    """Whether it was read before it was ever written."""
    written: bool = False


@dataclass(slots=True, eq=False)
class Recording:
    """What one call did."""

    resources_alone: bool = False
    kinds: set[str] = field(default_factory=set)
    """The kinds of its ops, those inside traced functions included."""
    precisions: set[str] = field(default_factory=set)
    """The floating-point dtypes of what its ops are given, those inside traced functions too."""
    made_in: set[Any] = field(default_factory=set)
    """The dtypes of what its ops make of the arguments and of resources."""
    ops: int = 0
    """How many ran; a traced function counts as one."""
    resources: dict[int, Resource] = field(default_factory=dict)
    """By the identity of the handle, in the order in which they were first touched."""
    counts_from_the_front: bool = False
    """Whether it names an axis along which it reduces by its place from the front, or may."""
    creates_variables: bool = False
    """Whether it made a variable, as what is built when it is first called does."""
    is_blind: bool = False
    """Whether nothing could be seen: TensorFlow's ops do not go through a door that is known."""
    _looking: bool = False
    """While a variable is read for our own sake."""
    _steps: list[tuple[Sequence[Any], Sequence[Any], bool]] = field(default_factory=list)
    """What each op was given, what it gave, and whether it was given a resource, in their order."""

    def must_reach(self, arguments: Iterable[Any], outputs: Iterable[Any]) -> None:
        """Know of what nobody saw: outputs that no op makes of the arguments or of a resource.

        A function that computes with numpy does not tell what it does, nor in which precision.
        Without it `test_what_numpy_computes_may_round` fails.
        """
        reached = set(map(id, arguments))
        for given, made, takes_resource in self._steps:
            if takes_resource or not reached.isdisjoint(map(id, given)):
                reached.update(map(id, made))
                self.made_in |= {getattr(each, "dtype", None) for each in made}
        if any(id(each) not in reached for each in outputs):
            self.kinds.add(_UNKNOWN)
        self._steps.clear()

    def run(self, kind: str | bytes, inputs: Sequence[Any], run: Callable[[], Any]) -> Any:
        """What an op gives, which is noted."""
        if self._looking or (self.resources_alone and not may_take_resources(kind)):
            return run()
        takes_resource = self._note(kind, inputs)
        result = run()
        self._steps.append((inputs, tuple(listed(result)), takes_resource))
        return result

    def _note(self, kind: str | bytes, inputs: Iterable[Any]) -> bool:
        """Know of an op that is about to run; whether it is given a resource."""
        import tensorflow as tf

        name = kind.decode() if isinstance(kind, bytes) else kind
        self.ops += 1
        if _is_op(name):
            inside = frozenset((name,))
            if name in REDUCING_ALONG and not self.counts_from_the_front:
                self.counts_from_the_front = counts_from_the_front(inputs)
        else:
            functions = _functions(name)
            inside = _inside(functions) if functions else frozenset((name,))
            self.counts_from_the_front |= not inside.isdisjoint(REDUCING_ALONG)
            self.precisions |= (inner := _precisions_inside(functions))
            self.made_in |= set(map(tf.as_dtype, inner))
        self.kinds |= inside
        self.creates_variables |= "VarHandleOp" in inside
        takes_resource = False
        for position, given in enumerate(inputs):
            if type(given) in ATTRIBUTES:
                continue
            if isinstance(given, tf.Tensor):
                precision = precision_of(given.dtype)
                if precision:
                    self.precisions.add(precision)
                elif given.dtype == tf.resource:
                    takes_resource = True
                    self._touch(given, inside, reads=not _overwrites(name, position))
            elif isinstance(given, tf.Variable):
                # (Read by what runs the op, without another op that could be seen.)
                takes_resource = True
                self._touch(given.handle, _READ)
        return takes_resource

    def _touch(self, handle: Any, kinds: frozenset[str], *, reads: bool = True) -> None:
        writes = any(may_write(kind) for kind in kinds)
        known = self.resources.get(id(handle))
        if known is None:
            known = self.resources[id(handle)] = Resource(handle, None, reads)
        if known.before is None:
            # (What is made in this call has its value from its second op on.)
            self._looking = True
            known.before = value_of(handle)
            self._looking = False
        known.written |= writes


@cache
def _is_op(name: str) -> bool:
    """Whether this is the name of an op, and so of no traced function."""
    return definition_of_op(name) is not None


def may_write(kind: str) -> bool:
    """Whether an op may change the resource that it is given: what is not known may."""
    if kind in _READS:
        return False
    return kind.startswith(_WRITES) or definition_of_op(kind) is None


def known_resources(variables: Iterable[Any]) -> list[Resource]:
    """Variables as they are now, of which no op is known."""
    handles = [getattr(getattr(v, "_value", v), "handle", None) for v in variables]
    return [
        Resource(handle, value_of(handle), read_first=False)
        for handle in handles
        if handle is not None
    ]


@contextmanager
def recording(*, resources_alone: bool = False) -> Iterator[Recording]:
    """Within this, what runs eagerly in this process is recorded, or what touches variables alone.

    Without it `test_a_sum_that_is_kept_is_put_back` fails.
    """
    found = Recording(resources_alone=resources_alone)
    try:
        fast, slow = private(Private.FAST), private(Private.SLOW)
    except Absent:
        found.is_blind = True
        found.kinds.add(_UNKNOWN)
        yield found
        return

    def noted_fast(context: Any, kind: str, name: Any, *inputs: Any) -> Any:
        given: Sequence[Any] = inputs
        if not plain_inputs().issuperset(map(type, inputs)):
            given = list(chain.from_iterable(map(listed, inputs)))
        return found.run(kind, given, partial(fast, context, kind, name, *inputs))

    def noted_slow(context: Any, device: Any, kind: str, inputs: Any, *rest: Any) -> Any:
        return found.run(kind, list(inputs), partial(slow, context, device, kind, inputs, *rest))

    with one_at_a_time, replaced(Private.FAST, noted_fast), replaced(Private.SLOW, noted_slow):
        yield found


_UNKNOWN = "?"
"""The kind of ops that nobody saw."""

one_at_a_time = threading.RLock()
"""Whoever records in another thread waits: what was replaced has to come back in order."""


def _inside(functions: Sequence[Any]) -> frozenset[str]:
    """The kinds of ops in traced functions."""
    # (What calls another function is no op of its own.)
    return frozenset(
        node.op
        for function in functions
        for node in function.node_def
        if node.op not in _CALLS or not _called(node)
    )


def _precisions_inside(functions: Sequence[Any]) -> frozenset[str]:
    """The floating-point dtypes that the ops of traced functions name.

    Without it `test_what_is_rounded_moves_by_less_than_the_input` fails.
    """
    import tensorflow as tf

    nodes = (node for function in functions for node in function.node_def)
    types = {a.type for node in nodes for a in node.attr.values() if a.type}
    dtypes = [tf.as_dtype(enum) for enum in types]
    return frozenset(d.real_dtype.name for d in dtypes if d.is_floating or d.is_complex)


def _functions(name: str) -> list[Any]:
    """What a traced function consists of: itself and all that it calls; nothing for an op."""
    seen, found = {name}, []
    waiting = [definition_of_function(name)]
    while waiting:
        definition = waiting.pop()
        if definition is None:
            continue
        found.append(definition)
        called = {each for node in found[-1].node_def for each in _called(node)} - seen
        seen |= called
        waiting += map(definition_of_function, sorted(called))
    return found


def functions_inside(name: str) -> list[str]:
    """The names of a traced function and of all that it calls; none for an op."""
    return [function.signature.name for function in _functions(name)]


def _called(node: Any) -> set[str]:
    """The functions that a node of a graph calls."""
    names = {a.func.name for a in node.attr.values() if a.func.name}
    return {name for name in names if definition_of_function(name) is not None}


_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


def _overwrites(name: str, position: int) -> bool:
    """Whether an op surely overwrites the resource that it is given here before it ever reads it.

    Adding to it, or to a part of it, reads it too. The ops of a traced function stand in the order
    in which they were traced; of what stands in a branch or a loop nothing is sure.
    """
    function = definition_of_function(name)
    if function is None:
        return name == "AssignVariableOp"
    arguments = [argument.name for argument in function.signature.input_arg]
    given = arguments[position] if position < len(arguments) else None
    for node in function.node_def:
        if given in node.input:
            inner = node.attr["f"].func.name if node.op in _CALLS else node.op
            return _overwrites(inner, list(node.input).index(given))
    return False


def value_of(handle: Any) -> Any:
    """The value of the variable behind a handle; None where there is no variable, or no value."""
    import tensorflow as tf

    data = getattr(handle, "_handle_data", None)
    if data is None or not data.is_set or len(data.shape_and_type) != 1:
        return None
    if not tf.raw_ops.VarIsInitializedOp(resource=handle):
        return None
    dtype = tf.as_dtype(data.shape_and_type[0].dtype)
    return tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
