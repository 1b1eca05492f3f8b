// The worker owns the simulation: it computes in short slices and answers messages between them.
"use strict";

const SLICE_MS = 6;
let engine, frames, playing = false, speed = 1, batch = 20, target = Infinity;
let anchor = { wall: 0, time: 0 }, logging = false;

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
      const before = performance.now(), had = engine.nEvents;
      stop = frames.run(wanted, batch);
      drain();
      const spent = performance.now() - before, fired = engine.nEvents - had;
      if (fired && (spent > 2 || fired >= batch)) batch = Math.max(1, Math.min(2 * batch, 5e6, Math.round((2 * fired) / Math.max(spent, 0.01))));
      if (performance.now() - begun > SLICE_MS) break;
    }
    const isBehind = stop !== REACHED_TIME && stop !== EXHAUSTED;
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

const HANDLERS = {
  async begin({ config, code, image }) {
    engine = await Engine.make(config, code, image);
    guarded(() => engine.run(-Infinity, 0));
    frames = new Frames(engine, config.view);
    post("ready", {});
  },
  play, pause, step,
  frame({ returned }) {
    frames.spare = returned.slice(0, 16);
    const [message, buffers] = frames.take();
    post("frame", { ...message, playing }, buffers);
  },
  speed({ value }) { speed = value; reanchor(); },
  unit() { pause(); guarded(() => { runOn(engine.now + 1); }); },
  until({ time }) { target = time; play(); },
  restart({ seed }) {
    const was = playing;
    pause();
    guarded(() => { engine.reset(seed); engine.set("is_logging", logging ? 1 : 0); engine.run(-Infinity, 0); frames.forget(); });
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
  while (stop !== REACHED_TIME && stop !== EXHAUSTED) { stop = frames.run(until, 1e6); drain(); }
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
