// The page: buttons, keys, charts and downloads around a worker that owns the simulation.
"use strict";

const $ = (id) => document.getElementById(id);
const DATA = ["config", "code", "image", "worker"];
const isWhole = () => crc32(new TextEncoder().encode(DATA.map((id) => ($(id) ? $(id).textContent : "")).join(""))) === Number(document.body.dataset.checksum);
const isDamaged = !isWhole(), config = isDamaged ? { observables: [], view: { series: [], marks: [] } } : JSON.parse($("config").textContent);
const MOST_POINTS = 1500;
const CHARTS = [...config.observables, ...config.view.series.map(([name]) => ({ name, doc: name }))], MOVES = config.view.marks.some((m) => m.motion);
let worker, picture, playing = false, returned = [], series = blank(), charts = [];
let latest = null, takenAt = 0, rate = 0, isFresh = false, asked = false, shown = { frames: 0, since: performance.now(), rate: 0 };

function blank() { return { t: [], values: CHARTS.map(() => []) }; }

async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function send(kind, rest, transfer) { worker.postMessage({ kind, ...rest }, transfer || []); }

function say(text, isError) { $("note").textContent = text; $("note").className = isError ? "error" : ""; }

async function begin() {
  if (isDamaged) return say("This page is damaged: some of it was lost or changed on its way here. Get it, or export it, again.", true);
  $("title").textContent = config.title;
  $("about").textContent = config.about;
  if (!config.remote && (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined")) {
    return say("This browser has no WebAssembly (or no DecompressionStream): take one from 2023 or later, or run the model with `tocsin run`.", true);
  }
  picture = new Picture($("canvas"), config.view);
  if (config.remote) {
    worker = new Remote(`${location.href.replace(/^http/, "ws").replace(/[^/]*$/, "")}stream`);
    worker.onmessage = (event) => HEARD[event.data.kind](event.data);
    worker.onerror = (event) => say(event.message, true);
    return send("begin", {});
  }
  const text = JSON.parse($("worker").textContent);
  worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
  worker.onmessage = (event) => HEARD[event.data.kind](event.data);
  worker.onerror = (event) => say(event.message || "the worker failed", true);
  const [code, image] = [await unpack("code"), await unpack("image")];
  send("begin", { config, code, image }, [code.buffer, image.buffer]);
}

const HEARD = {
  ready() {
    say("");
    build();
    setSpeed();
    requestAnimationFrame(ask);
    document.body.dataset.ready = "yes";
  },
  frame(frame) {
    const now = performance.now();
    if (latest) {
      returned = latest.marks.map((m) => m.data.buffer); // drawn for the last time
      const measured = (1000 * (frame.now - latest.now)) / Math.max(1, now - takenAt);
      rate = frame.playing ? (measured > 0 ? 0.7 * rate + 0.3 * measured : rate) : 0;
    }
    [asked, latest, takenAt, isFresh] = [false, frame, now, true];
    note(frame);
    document.body.dataset.events = frame.nEvents;
  },
  state(message) {
    playing = message.playing;
    $("play").textContent = playing ? "Pause" : "Play";
    document.body.dataset.playing = playing;
  },
  note({ message }) { say(message); },
  error({ message }) { say(message, true); },
  log({ events, skipped }) {
    const body = $("events"), rows = events.slice(-40).reverse().map(([time, action, row]) => {
      const line = document.createElement("tr");
      for (const cell of [time.toPrecision(7), config.actions[action].name, row]) line.append(Object.assign(document.createElement("td"), { textContent: cell }));
      return line;
    });
    body.prepend(...rows);
    while (body.children.length > 40) body.lastChild.remove();
  },
  inspected({ table, row, found }) {
    const list = $("fields");
    list.replaceChildren();
    if (!found) return pair(list, "row", "there is no such row");
    if (!found.isLive) pair(list, "row", "removed");
    for (const [name, value] of Object.entries(found.fields)) pair(list, name, typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(8) : value);
  },
  histogram(message) { drawHistogram(message); },
  restarted({ seed }) {
    showSeed(seed);
    series = blank();
    latest = null;
    picture.forget();
    $("events").replaceChildren();
    say("");
  },
  saved({ blob }) { download(blob, `${config.model}.tocsin`); },
  memory({ bytes }) { window.memoryBytes = bytes; },
  done({ nEvents }) { document.body.dataset.done = nEvents; },
};

function pair(list, name, value) {
  list.append(Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value }));
}

function ask() {
  if (!asked && !document.hidden) { asked = true; send("frame", { returned }, returned); returned = []; }
  if (latest && (isFresh || (playing && MOVES))) show();
  requestAnimationFrame(ask);
}

// Draw the newest frame; what moves between events is carried on to this moment, while the worker is busy.
function show() {
  const now = performance.now();
  picture.draw(latest, playing ? (rate * Math.min(now - takenAt, 300)) / 1000 : 0);
  if (!("first" in document.body.dataset)) document.body.dataset.first = now.toFixed(0);
  isFresh = false;
  shown.frames++;
  const spent = now - shown.since;
  if (spent > 1000) shown = { frames: 0, since: now, rate: (shown.frames * 1000) / spent };
  document.body.dataset.fps = shown.rate.toFixed(1);
}

let lastChart = 0, lastSide = 0;
function note(frame) {
  $("clock").textContent = `t = ${frame.now.toPrecision(7)} · ${frame.nEvents.toLocaleString("en")} events · ${shown.rate.toFixed(0)} frames/s`;
  const { t, values } = series;
  if (!t.length || frame.now > t[t.length - 1]) {
    t.push(frame.now);
    frame.observables.forEach((v, k) => values[k].push(v));
    if (t.length > MOST_POINTS) { // keep every other one: the whole run stays in sight
      const half = (list) => list.filter((_, k) => k % 2 === 0);
      series.t = half(t);
      series.values = values.map(half);
    }
  }
  const now = performance.now();
  if (now - lastChart > 120) {
    lastChart = now;
    charts.forEach((chart, k) => chart.setData([series.t, series.values[k]]));
  }
  if (now - lastSide > 400) {
    lastSide = now;
    if ($("shape").open && $("column").value) askDistribution($("column").value);
    if ($("inspector").open) send("inspect", { table: $("table").value, row: Number($("row").value) });
    if ($("counts").open) {
      $("fired").replaceChildren();
      frame.counts.forEach((n, k) => pair($("fired"), config.actions[k].name, n.toLocaleString("en")));
    }
  }
}

// A column's distribution over its rows is the worker's to find; that of a chart over time stands here.
function askDistribution(name) {
  const [table, column] = name.split("/");
  if (column !== undefined) return send("histogram", { table, column });
  const values = series.values[Number(name)], counts = new Array(40).fill(0);
  if (!values.length) return;
  const low = Math.min(...values), span = Math.max(...values) - low || 1;
  values.forEach((v) => counts[Math.min(39, Math.floor(((v - low) / span) * 40))]++);
  drawHistogram({ low, high: low + span, counts });
}

function build() {
  showSeed(config.seed);
  if (!config.seedWords.length) Object.assign($("seed"), { disabled: true, title: "this run draws from one stream that was started natively" });
  $("speed").value = Math.round(4 * Math.log10(config.speed)) / 4;
  buildCharts();
  config.params.forEach(buildParam);
  if (!config.params.length) $("params").textContent = "none";
  CHARTS.forEach((chart, k) => $("column").append(new Option(`${chart.name}, over time`, String(k))));
  for (const [name, table] of Object.entries(config.tables)) {
    $("table").append(new Option(name, name));
    for (const [field, spec] of Object.entries(table.fields)) if (spec.kind !== "ref") $("column").append(new Option(`${name}.${field}`, `${name}/${field}`));
  }
  if (!Object.keys(config.tables).length) $("inspector").hidden = true;
  buildLegend();
  if (!config.view.marks.length) $("picture").hidden = true;
  wire();
}

function buildLegend() {
  const { labels, blank, note, marks } = config.view, legend = $("legend");
  const add = (sign, label) => { const item = document.createElement("span"); item.append(sign, label); legend.append(item); };
  const dot = (colour) => { const sign = document.createElement("i"); sign.style.background = colour; return sign; };
  if (blank) add(dot(marks.some((m) => m.kind === "network") ? NOBODY : BLANK), blank);
  labels.forEach((label, k) => add(dot(pick(picture.colours, k)), label));
  for (const mark of marks) {
    if (mark.kind === "ticks") mark.labels.forEach((label, k) => {
      const sign = Object.assign(document.createElement("canvas"), { width: 12, height: 12 });
      triangle(sign.getContext("2d"), k === 2 ? 6 : 6 - [-2.5, 2.5][k], 6, [-1, 1, 0][k]);
      add(sign, label);
    });
  }
  if (note) legend.append(Object.assign(document.createElement("p"), { textContent: note }));
}

// Where all values are one, the axis still says which.
const span = (_, low, high) => (low === null ? [0, 1] : low === high ? [Math.min(0, 1.1 * low), Math.max(1, 1.1 * high)] : uPlot.rangeNum(low, high, 0.1, true));

function buildCharts() {
  const ink = () => getComputedStyle(document.body).color, axis = { stroke: ink, grid: { stroke: "#8884" }, ticks: { stroke: "#8884" } };
  charts = CHARTS.map((o, k) => {
    const place = document.createElement("div");
    place.className = "chart";
    place.title = o.doc;
    $("charts").append(place);
    const options = {
      width: Math.max(240, place.clientWidth - 24), height: 130, scales: { x: { time: false }, y: { range: span } }, legend: { show: false },
      axes: [axis, { ...axis, size: 60 }], title: o.name, cursor: { drag: { x: false, y: false } },
      series: [{}, { label: o.name, stroke: COLOURS[k % COLOURS.length], width: 1.5, points: { show: false } }],
    };
    const chart = new uPlot(options, [[], []], place);
    new ResizeObserver(() => chart.setSize({ width: Math.max(200, place.clientWidth - 24), height: 130 })).observe(place);
    return chart;
  });
}

function buildParam(spec, index) {
  const row = document.createElement("div"), label = document.createElement("label"), number = document.createElement("input");
  row.className = "param";
  const id = `param-${index}`;
  label.htmlFor = id;
  label.textContent = `${spec.name}${spec.unit ? `, ${spec.unit}` : ""}`;
  const start = spec.start;
  Object.assign(number, { id, type: spec.kind === "bool" ? "checkbox" : "number", step: spec.kind === "int" ? 1 : "any" });
  if (spec.kind === "bool") number.checked = start; else Object.assign(number, { value: Number(start.toPrecision(6)), title: `${start} at first` });
  row.append(label, number);
  const fits = (v) => Number.isFinite(v) && !(v <= spec.gt && spec.gt !== null) && !(v < spec.ge && spec.ge !== null) && !(v >= spec.lt && spec.lt !== null) && !(v > spec.le && spec.le !== null);
  const set = (v) => {
    if (spec.kind !== "bool" && !fits(v)) return say(`${spec.name} cannot be ${v}: it must be ${bounds(spec)}`, true);
    say("");
    send("parameter", { index, value: spec.kind === "int" ? Math.round(v) : v });
  };
  number.addEventListener("change", () => set(spec.kind === "bool" ? Number(number.checked) : Number(number.value)));
  if (spec.kind !== "bool" && start !== 0) {
    const slider = document.createElement("input"), isWide = spec.kind === "float";
    Object.assign(slider, { type: "range", min: isWide ? -1 : 0, max: 1, step: 0.01, value: isWide ? 0 : 0.5 });
    slider.setAttribute("aria-label", `${spec.name}, slider`);
    slider.addEventListener("input", () => {
      let v = isWide ? start * 10 ** Number(slider.value) : Math.round(2 * start * Number(slider.value));
      if (spec.le !== null) v = Math.min(v, spec.le);
      if (spec.ge !== null) v = Math.max(v, spec.ge);
      number.value = isWide ? Number(v.toPrecision(4)) : v;
      set(Number(number.value));
    });
    row.append(slider);
  }
  row.append(Object.assign(document.createElement("small"), { textContent: spec.doc }));
  $("params").append(row);
}

function bounds(spec) {
  const words = [["gt", ">"], ["ge", ">="], ["lt", "<"], ["le", "<="]].filter(([k]) => spec[k] !== null).map(([k, sign]) => `${sign} ${spec[k]}`);
  return words.join(" and ") || "a number";
}

let bars = null;
function drawHistogram({ low, high, counts }) {
  const width = (high - low) / counts.length, x = counts.map((_, k) => low + (k + 0.5) * width);
  if (!bars) {
    const ink = () => getComputedStyle(document.body).color, axis = { stroke: ink, grid: { stroke: "#8884" } };
    bars = new uPlot({
      width: 300, height: 150, scales: { x: { time: false } }, legend: { show: false }, axes: [axis, { ...axis, size: 50 }],
      series: [{}, { stroke: COLOURS[0], fill: COLOURS[0] + "88", paths: uPlot.paths.bars({ size: [1] }), points: { show: false } }],
    }, [[], []], $("histogram"));
  }
  bars.setData([x, counts]);
}

function setSpeed() {
  const power = Number($("speed").value), isMost = power >= 8, value = isMost ? Infinity : 10 ** power;
  $("speed-value").textContent = isMost ? "as fast as it gets" : `${Number(value.toPrecision(2))} time units/s`;
  send("speed", { value });
}

function showSeed(seed) { Object.assign($("seed"), { value: seed, size: Math.max(8, String(seed).length) }); }

function restart() {
  const text = $("seed").value.trim();
  if (!/^\d{1,20}$/.test(text) || BigInt(text) >= 1n << 64n) return say("The seed must be a whole number from 0 to 2^64 - 1.", true);
  send("restart", { seed: BigInt(text) });
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csv() {
  const head = ["time", ...CHARTS.map((o) => o.name)].join(",");
  const rows = series.t.map((t, k) => [t, ...series.values.map((v) => v[k])].join(","));
  download(new Blob([[head, ...rows].join("\n") + "\n"], { type: "text/csv" }), `${config.model}.csv`);
}

function wire() {
  const toggle = () => send(playing ? "pause" : "play");
  const faster = (d) => { $("speed").value = Number($("speed").value) + d; setSpeed(); };
  const theme = () => {
    const root = document.documentElement, isDark = root.classList.contains("dark");
    root.className = isDark ? "light" : "dark";
    charts.forEach((c) => c.redraw());
  };
  if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.className = "dark";
  $("play").onclick = toggle;
  $("step").onclick = () => send("step");
  $("unit").onclick = () => send("unit");
  $("restart").onclick = restart;
  $("speed").oninput = setSpeed;
  $("go").onclick = () => {
    const time = Number($("until").value);
    if (!Number.isFinite(time) || $("until").value === "") return say("Run to: give a time.", true);
    send("until", { time });
  };
  $("png").onclick = () => $("canvas").toBlob((blob) => download(blob, `${config.model}.png`));
  $("csv").onclick = csv;
  $("save").onclick = () => send("save");
  $("theme").onclick = theme;
  $("log").ontoggle = () => send("log", { on: $("log").open });
  $("inspector").ontoggle = $("table").onchange = $("row").oninput = () => {
    picture.selected = { table: $("table").value, row: Number($("row").value) };
    send("inspect", { table: $("table").value, row: Number($("row").value) });
  };
  $("canvas").onclick = (event) => {
    if (picture.isDragged) return;
    const box = $("canvas").getBoundingClientRect(), found = picture.at(event.clientX - box.left, event.clientY - box.top);
    if (!found) return;
    picture.selected = found;
    $("inspector").open = true;
    $("table").value = found.table;
    $("row").value = found.row;
    send("inspect", found);
  };
  const keys = { " ": toggle, e: () => send("step"), t: () => send("unit"), r: restart, "+": () => faster(0.5), "-": () => faster(-0.5) };
  document.addEventListener("keydown", (event) => {
    if (/^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });
}

begin().catch((error) => say(`This page cannot start: ${error.message}`, true));
