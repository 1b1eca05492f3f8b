"""Run by a Python that has pdmp-jax: its Zig-Zag on a standard normal; prints JSON.

Arguments: coordinates, events. CPU seconds are those by which a run of three times the length takes longer, so
without compilation.
"""

import json
import os
import sys
import time

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def main(d: int, events: int) -> None:
    """Sample one skeleton and print its flips per unit of time and coordinate, and CPU seconds."""
    import jax.numpy as jnp
    from pdmp_jax import ZigZag

    sampler = ZigZag(d, lambda x: x)
    spent = []
    for n in (events, events, 3 * events):
        begun = time.process_time()
        found = sampler.sample_skeleton(n, jnp.zeros(d), jnp.ones(d), 1, verbose=False)
        end = float(found.t[-1])
        spent.append(time.process_time() - begun)
    print(json.dumps({"cpu": spent[2] - spent[1], "events": 2 * events, "rate": 3 * events / (end * d)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
