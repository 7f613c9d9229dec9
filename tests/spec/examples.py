"""Specs that are right, and specs that are wrong in a way which a JSON Schema can see."""

from __future__ import annotations

GOOD = {
    "shapes": "op: matmul\ninputs: {a: [3, 4], b: [4, 5]}\n",
    "cases": """
        op: matmul
        cases:
          - inputs: {a: [3, 4], b: [4, 5]}
          - name: transposed
            inputs: {a: [4, 3], b: [4, 5]}
            args: {transpose_a: true}
            dtype: [float64, float32]
            mode: [eager, graph, xla]
        """,
    "expression": """
        expr: tf.reduce_sum(tf.square(s * t - target))
        inputs:
          s: 2.0
          t: {values: [[1, 2], [3, 4]]}
          target: {values: [[2, 4], [6, 8]], grad: false}
        gradient: {s: "2 * sum(t * (s * t - target))"}
        upstream: random
        """,
    "every key": """
        op: square
        name: all-of.it
        inputs: {x: {shape: [2, 2], sample: "uniform(1, 2)", variable: true, dtype: float32}}
        args: {}
        dtype: float32
        mode: graph
        check: [reverse, second]
        upstream: [[1, 2], [3, 4]]
        gradient: {x: [[1, 2], [3, 4]]}
        expect: mismatch
        reason: the claim above is wrong
        seed: [1, 2]
        tolerance: {rtol: 1e-4, atol: 1e-6}
        timeout: 1.5
        tags: [slow, gpu]
        """,
    "by input": "op: tf.add\ninputs: {x: [], y: []}\nexpect: {x: pass, y: disconnected}\n",
    "complex": 'op: square\ndtype: complex128\ninputs: {x: {values: ["1+2j", 3]}}\n',
    "several outputs": """
        expr: tf.split(x, 2)
        inputs: {x: [4]}
        upstream: {outputs: [[1, 2], [3, 4]]}
        """,
}

GOOD |= {
    "layer": """
        layer: keras.layers.MultiHeadAttention
        init: {num_heads: 2, key_dim: 4}
        call: {training: true}
        inputs: {query: [2, 3, 4], value: [2, 5, 4]}
        outputs: 0
        expect: {query: pass, query/kernel: disconnected}
        """,
    "layers inside": """
        layer: keras.Sequential
        init: {layers: [{layer: keras.layers.Dense, init: {units: 3}}, {layer: keras.layers.ReLU}]}
        inputs: {inputs: [2, 4]}
        variables: false
        """,
    "layers by case": """
        init: {units: 2}
        cases:
          - {layer: tf.keras.layers.Dense, inputs: {inputs: [2, 4]}}
          - {op: square, inputs: {x: [2]}}
        """,
    "by position": "op: tf.math.atan2\ninputs: [[3], {values: [1, 2, 3]}]\n",
    "structures": """
        expr: x['a'] * x['b'][0] + tf.reduce_sum(r) + tf.sparse.reduce_sum(s) + t[0] + n[0][0][0]
        inputs:
          x: {dict: {a: [3], b: {list: [[3], 2.0]}}}
          r: {ragged: [2, 0, 3], inner: [2], sample: positive}
          s: {sparse: [3, 4], indices: [[0, 1], [2, 3]], values: [1.5, 2]}
          t: {tuple: [[], []]}
          n: {ragged: [[1, 2], [2, 0, 1]]}
        gradient: {"x['a']": "G * x['b'][0]"}
        expect: {r.values: pass}
        outputs: [0]
        """,
}

SEEN_BY_SCHEMA = {
    "unknown key": "op: square\nshpae: 3\ninputs: {x: [2]}\n",
    "unknown input key": "op: square\ninputs: {x: {shpae: [2]}}\n",
    "unknown dtype": "op: square\ndtype: flaot32\ninputs: {x: [2]}\n",
    "two targets": "op: square\nexpr: x * x\ninputs: {x: [2]}\n",
    "no target": "inputs: {x: [2]}\n",
    "no inputs": "op: square\n",
    "shape and values": "op: square\ninputs: {x: {shape: [2], values: [1, 2]}}\n",
    "negative size": "op: square\ninputs: {x: [-2]}\n",
    "on": "op: square\ninputs: {x: {shape: [2], grad: on}}\n",
    "rtol of one": "op: square\ninputs: {x: [2]}\ntolerance: {rtol: 1}\n",
    "negative seed": "op: square\ninputs: {x: [2]}\nseed: -1\n",
    "no timeout": "op: square\ninputs: {x: [2]}\ntimeout: 0\n",
    "no cases": "op: square\ncases: []\n",
    "name of a file": "op: square\nname: a\ncases: [{inputs: {x: [2]}}]\n",
    "bad name": "op: square\nname: a b\ninputs: {x: [2]}\n",
    "bad function": "function: mypkg.swish\ninputs: {x: [2]}\n",
    "twice": "op: square\nmode: [eager, eager]\ninputs: {x: [2]}\n",
    "unknown verdict": "op: square\nexpect: misatch\ninputs: {x: [2]}\n",
    "text as upstream": "op: square\nupstream: twos\ninputs: {x: [2]}\n",
    "init without a layer": "op: square\ninit: {a: 1}\ninputs: {x: [2]}\n",
    "empty list": "op: square\ninputs: {x: {list: []}}\n",
    "no indices": "expr: x\ninputs: {x: {sparse: [2]}}\n",
    "inner alone": "op: square\ninputs: {x: {inner: [2]}}\n",
    "variables": "op: square\ninputs: {x: [2]}\nvariables: 1\n",
    "negative output": "op: square\ninputs: {x: [2]}\noutputs: -1\n",
    "bad layer": "layer: Dense()\ninputs: {x: [2]}\n",
}
