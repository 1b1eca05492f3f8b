"""What an adapter runs: it answers each line "CASE SEED" with one JSON line. A process of its own.

An adapter is a file with `CASES = {name: make}`; `make()` returns a program, `program(seed)` runs
once and returns its answers: {name: number}. CPU time is taken here, round each call of a program
and of all its threads; the first call of a case is a warm-up, told apart as such by the race.
"""

import json
import sys
import time
import traceback


def serve(cases):
    """Answer until the input ends."""
    out, programs = sys.stdout, {}
    sys.stdout = sys.stderr  # what a library prints must not get between the answers
    for line in sys.stdin:
        name, seed = line.split()
        try:
            if name not in cases:
                reply = {"skipped": "no such case"}
            else:
                if name not in programs:
                    programs[name] = cases[name]()
                begun = time.process_time()
                answers = programs[name](int(seed))
                reply = {"seconds": time.process_time() - begun, "answers": answers}
        except Exception as error:
            traceback.print_exc()
            reply = {"failed": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(reply), file=out, flush=True)
