"""Many runs of one compiled loop, one after the other, with no Python between them. Needs LLVM only, not Numba.

Before each run the memory of the world and the kernel is copied back from an image, and the run's random stream put
in its place; after each stop, what is to be kept is copied out. So a run does what a fresh simulation would do.
"""

from __future__ import annotations

from tocsin.compile._assembly import Assembled, assembled
from tocsin.errors import Stop

NAME = "tocsin_many"
FIELDS = (
    "loop", "world", "kernel", "first", "stop", "most_events", "times", "n_times", "blocks", "n_blocks", "stream",
    "streams", "stream_bytes", "kept", "n_kept", "out", "stops", "now", "n_events", "clocks", "clocks_at", "error",
)  # fmt: skip
"""What `many` is given, 64 bits each: numbers and addresses.

Runs first .. stop - 1 are made; `blocks` are rows (to, from, bytes), `kept` rows (from, bytes); `streams` and `stops`,
(runs, times), begin with run 0, and `out` with the first. `clocks` is the word that says where the kernel's clocks
are: `clocks_at`, until a pool grows.
"""
FAILED, GREW = -1, -2
"""In `stops`: a function of the model raised; a pool grew, and the run is to be made elsewhere."""
_POINTERS = {
    "loop", "times", "blocks", "stream", "streams", "kept", "out", "stops", "now", "n_events", "clocks", "error",
}  # fmt: skip


def many() -> Assembled:
    """Return the machine code of `i64 many(fields*)`: it returns the number of the first run that it did not end."""
    return assembled(_text(), NAME)


def _text() -> str:
    loads = "\n".join(_load(k, name) for k, name in enumerate(FIELDS))
    codes = {name: int(Stop[name]) for name in ("REACHED_TIME", "EXHAUSTED", "REACHED_EVENTS")}
    return _BODY.replace("LOADS", loads).format(name=NAME, FAILED=FAILED, GREW=GREW, **codes)


def _load(k: int, name: str) -> str:
    at = f"  %{name}.field = getelementptr i64, ptr %fields, i64 {k}\n"
    if name in _POINTERS:
        return f"{at}  %{name}.i = load i64, ptr %{name}.field\n  %{name} = inttoptr i64 %{name}.i to ptr"
    return f"{at}  %{name} = load i64, ptr %{name}.field"


_BODY = """
declare ptr @memcpy(ptr, ptr, i64)

define i64 @{name}(ptr %fields) {{
entry:
LOADS
  %result = alloca i64
  br label %run

run:
  %k = phi i64 [ %first, %entry ], [ %k.next, %run.end ]
  %out.run = phi i64 [ 0, %entry ], [ %out.now, %run.end ]
  %is.over = icmp sge i64 %k, %stop
  br i1 %is.over, label %leave, label %restore

restore:
  %b = phi i64 [ 0, %run ], [ %b.next, %restore.one ]
  %b.over = icmp sge i64 %b, %n_blocks
  br i1 %b.over, label %seed, label %restore.one
restore.one:
  %b.word = mul i64 %b, 3
  %to.at = getelementptr i64, ptr %blocks, i64 %b.word
  %from.at = getelementptr i64, ptr %to.at, i64 1
  %size.at = getelementptr i64, ptr %to.at, i64 2
  %to = load ptr, ptr %to.at
  %from = load ptr, ptr %from.at
  %size = load i64, ptr %size.at
  call ptr @memcpy(ptr %to, ptr %from, i64 %size)
  %b.next = add i64 %b, 1
  br label %restore

seed:
  %stream.offset = mul i64 %k, %stream_bytes
  %stream.own = getelementptr i8, ptr %streams, i64 %stream.offset
  call ptr @memcpy(ptr %stream, ptr %stream.own, i64 %stream_bytes)
  %stops.row = mul i64 %k, %n_times
  br label %time

time:
  %t = phi i64 [ 0, %seed ], [ %t.next, %keep.end ]
  %out.now = phi i64 [ %out.run, %seed ], [ %out.next, %keep.end ]
  %t.over = icmp sge i64 %t, %n_times
  br i1 %t.over, label %run.end, label %advance
advance:
  %until.at = getelementptr double, ptr %times, i64 %t
  %until = load double, ptr %until.at
  %fired = load i64, ptr %n_events
  %left = sub i64 %most_events, %fired
  %status = call i32 %loop(ptr %result, ptr %error, ptr null, i64 %world, i64 %kernel, double %until, i64 %left)
  %code.own = load i64, ptr %result
  %is.raised = icmp ne i32 %status, 0
  %code = select i1 %is.raised, i64 {FAILED}, i64 %code.own
  %stops.index = add i64 %stops.row, %t
  %stops.at = getelementptr i64, ptr %stops, i64 %stops.index
  store i64 %code, ptr %stops.at
  %clocks.now = load i64, ptr %clocks
  %is.same = icmp eq i64 %clocks.now, %clocks_at
  br i1 %is.same, label %judge, label %grew
grew:
  store i64 {GREW}, ptr %stops.at
  br label %leave

judge:
  switch i64 %code, label %leave [ i64 {REACHED_TIME}, label %settle
                                   i64 {EXHAUSTED}, label %settle
                                   i64 {REACHED_EVENTS}, label %keep ]
settle:
  store double %until, ptr %now
  br label %keep

keep:
  %p = phi i64 [ 0, %judge ], [ 0, %settle ], [ %p.next, %keep.one ]
  %out.at = phi i64 [ %out.now, %judge ], [ %out.now, %settle ], [ %out.after, %keep.one ]
  %p.over = icmp sge i64 %p, %n_kept
  br i1 %p.over, label %keep.end, label %keep.one
keep.one:
  %p.word = mul i64 %p, 2
  %kept.at = getelementptr i64, ptr %kept, i64 %p.word
  %kept.size.at = getelementptr i64, ptr %kept.at, i64 1
  %kept.from = load ptr, ptr %kept.at
  %kept.size = load i64, ptr %kept.size.at
  %out.to = getelementptr i8, ptr %out, i64 %out.at
  call ptr @memcpy(ptr %out.to, ptr %kept.from, i64 %kept.size)
  %out.after = add i64 %out.at, %kept.size
  %p.next = add i64 %p, 1
  br label %keep
keep.end:
  %out.next = add i64 %out.at, 0
  %t.next = add i64 %t, 1
  br label %time

run.end:
  %k.next = add i64 %k, 1
  br label %run

leave:
  ret i64 %k
}}
"""
