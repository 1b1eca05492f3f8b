// The worker owns the simulation: it computes in short slices and answers messages between them.
"use strict";

const SLICE_MS = 6;
let engine, view, playing = false, speed = 1, batch = 1000, target = Infinity;
let anchor = { wall: 0, time: 0 }, logging = false, spare = [];

const channel = typeof MessageChannel === "undefined" ? null : new MessageChannel();
if (channel) channel.port1.onmessage = () => slice();

function post(kind, rest, transfer) { self.postMessage({ kind, ...rest }, transfer || []); }

function guarded(action) {
  try { action(); } catch (error) {
    playing = false;
    post("error", { message: error.message });
    post("state", { playing });
  }
}

function play() {
  if (playing || engine.broken) return;
  playing = true;
  reanchor();
  post("state", { playing });
  channel.port2.postMessage(0);
}

function reanchor() { anchor = { wall: performance.now(), time: engine.now }; }

function pause() { playing = false; post("state", { playing }); }

// One slice: as far as the speed asks, but for no longer than some milliseconds.
function slice() {
  if (!playing) return;
  guarded(() => {
    const begun = performance.now();
    const wanted = Math.min(target, speed === Infinity ? Infinity : anchor.time + ((begun - anchor.wall) / 1000) * speed);
    let stop = REACHED_EVENTS;
    while (stop !== REACHED_TIME && stop !== EXHAUSTED) {
      const before = performance.now();
      stop = engine.run(wanted, batch);
      drain();
      const spent = performance.now() - before;
      if (stop === REACHED_EVENTS) batch = Math.max(20, Math.min(5e6, Math.round(batch * Math.min(2, Math.max(0.5, 2 / Math.max(spent, 0.01))))));
      if (performance.now() - begun > SLICE_MS) break;
    }
    const isBehind = stop === REACHED_EVENTS;
    if (isBehind && speed !== Infinity) reanchor();
    if (stop === EXHAUSTED || engine.now >= target) {
      playing = false;
      if (stop === EXHAUSTED) post("note", { message: "No clock will ever ring again." });
      target = Infinity;
      post("state", { playing });
      return;
    }
    if (isBehind) channel.port2.postMessage(0);
    else setTimeout(slice, 4);
  });
}

function drain() {
  if (!logging) return;
  const events = engine.takeLog();
  if (events.length) post("log", { events: events.slice(-200), skipped: Math.max(0, events.length - 200) });
}

function step() {
  pause();
  guarded(() => {
    const before = engine.counts(), stop = engine.run(Infinity, 1);
    drain();
    const fired = engine.counts().findIndex((n, k) => n !== before[k]);
    if (stop === EXHAUSTED && fired < 0) post("note", { message: "No clock will ever ring again." });
    else post("note", { message: `${engine.config.actions[fired].name} at t = ${engine.now.toPrecision(8)}` });
  });
}

// Numbers for one picture, in arrays that the page hands back when it has drawn them.
function frame() {
  const marks = view.marks.map((mark) => numbers(mark));
  const shape = extent();
  const message = {
    marks, shape, now: engine.now, nEvents: engine.nEvents, observables: engine.observables(), counts: engine.counts(), playing,
  };
  post("frame", message, marks.filter(Boolean).map((m) => m.data.buffer));
}

function room(n) {
  const at = spare.findIndex((b) => b.byteLength >= n * 4 && b.byteLength <= n * 16 + 4096);
  return at >= 0 ? new Float32Array(spare.splice(at, 1)[0]) : new Float32Array(Math.ceil(n * 1.25) + 64);
}

const READERS = {
  arcs: (m, c) => [c(m.start), c(m.end), m.colour ? c(m.colour) : null],
  ticks: (m, c) => [c(m.x), m.value ? c(m.value) : null],
  circles: (m, c) => [c(m.x), c(m.y), c(m.radius)],
};

function numbers(mark) {
  if (mark.kind === "cells") return cells(mark);
  const table = engine.config.tables[mark.table], column = (path) => engine.column(mark.table, path);
  const readers = mark.kind === "points" ? pointReaders(mark, column) : READERS[mark.kind](mark, column);
  const width = readers.length + 1, n = engine.nRows(table);
  const data = room(n * width);
  let k = 0, count = 0;
  for (let row = 0; row < n; row++) {
    if (!engine.isLive(table, row)) continue;
    if (mark.kind === "ticks" && readers[1] && !readers[1](row)) continue; // 0, or NaN behind an empty reference
    for (const read of readers) data[k++] = read ? Number(read(row)) : 0;
    data[k++] = row;
    count++;
  }
  return { data, count, width };
}

function pointReaders(mark, column) {
  const x = column(mark.x), y = mark.y ? column(mark.y) : () => 0, colour = mark.colour ? column(mark.colour) : () => 0;
  const motion = mark.motion;
  if (!motion) return [x, y, colour];
  const since = column(motion.since), only = motion.only ? column(motion.only[0]) : null, now = engine.now;
  const moves = (row) => !only || Number(only(row)) === motion.only[1];
  if (motion.goal.length) {
    const goals = motion.goal.map(column), pace = column(motion.pace);
    const share = (row) => Math.min(1, (now - since(row)) * pace(row));
    const along = (at, goal) => (row) => (moves(row) ? at(row) + share(row) * (goal(row) - at(row)) : at(row));
    return [along(x, goals[0]), goals[1] ? along(y, goals[1]) : y, colour];
  }
  const speeds = motion.velocity.map(column);
  const along = (at, v) => (row) => (moves(row) ? at(row) + v(row) * (now - since(row)) : at(row));
  return [along(x, speeds[0]), speeds[1] ? along(y, speeds[1]) : y, colour];
}

function cells(mark) {
  if (mark.array) {
    const array = engine.config.arrays[mark.array], n = array.shape.reduce((a, b) => a * b, 1);
    const columns = mark.columns || (array.shape.length > 1 ? array.shape[1] : Math.ceil(Math.sqrt(n)));
    const data = room(n), view_ = engine.views[array.dtype === "i8" ? "i4" : array.dtype];
    const size = array.dtype === "i8" ? 4 : array.size, step = array.size / size;
    for (let k = 0; k < n; k++) data[k] = Number(view_[array.at / size + k * step]);
    return { data, count: n, width: 1, columns };
  }
  const table = engine.config.tables[mark.table], read = engine.column(mark.table, mark.value), n = engine.nRows(table);
  const data = room(n);
  for (let row = 0; row < n; row++) data[row] = Number(read(row));
  return { data, count: n, width: 1, columns: mark.columns || Math.ceil(Math.sqrt(n)) };
}

function extent() {
  const shape = {};
  if (view.line) shape.line = engine.nRows(engine.config.tables[view.line]);
  if (view.box) shape.box = view.box.map((name) => engine.scalar(engine.config.globals[name]));
  return shape;
}

const HANDLERS = {
  async begin({ config, code, image }) {
    engine = await Engine.make(config, code, image);
    view = config.view;
    guarded(() => engine.run(-Infinity, 0));
    post("ready", {});
  },
  play, pause, step,
  frame({ returned }) { spare = returned.slice(0, 8); frame(); },
  speed({ value }) { speed = value; reanchor(); },
  unit() { pause(); guarded(() => { runOn(engine.now + 1); }); },
  until({ time }) { target = time; play(); },
  restart({ seed }) {
    const was = playing;
    pause();
    guarded(() => { engine.reset(seed); engine.set("is_logging", logging ? 1 : 0); engine.run(-Infinity, 0); });
    post("restarted", { seed: String(engine.seed) });
    if (was) play();
  },
  parameter({ index, value }) { guarded(() => engine.change(engine.config.params[index], value)); },
  log({ on }) { logging = on; engine.set("n_log", 0); engine.set("is_logging", on ? 1 : 0); },
  inspect({ table, row }) { post("inspected", { table, row, found: engine.inspect(table, row) }); },
  histogram({ table, column }) { post("histogram", { table, column, ...engine.histogram(table, column, 40) }); },
  save() { guarded(() => { engine.run(-Infinity, 0); post("saved", { blob: saveOf(engine) }); }); },
  memory() { const bytes = engine.stateBytes().slice(); post("memory", { bytes }, [bytes.buffer]); },
  events({ n }) { pause(); guarded(() => runEvents(n)); post("done", { nEvents: engine.nEvents }); },
};

function runOn(until) {
  let stop = REACHED_EVENTS;
  while (stop === REACHED_EVENTS || stop === LOG_FULL) { stop = engine.run(until, 1e6); drain(); }
}

function runEvents(n) {
  const end = engine.nEvents + n;
  let stop = REACHED_EVENTS;
  while (engine.nEvents < end && stop !== EXHAUSTED) { stop = engine.run(Infinity, end - engine.nEvents); drain(); }
}

if (typeof self !== "undefined" && typeof document === "undefined") {
  self.onmessage = (event) => {
    const { kind, ...rest } = event.data;
    Promise.resolve(HANDLERS[kind](rest)).catch((error) => post("error", { message: error.message }));
  };
}
