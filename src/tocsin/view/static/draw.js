// Marks on a canvas: what the worker sends as numbers becomes a picture. Knows no model.
"use strict";

const COLOURS = ["#3b6fb6", "#d1652b", "#2f9367", "#a33f7f", "#8a6d1d", "#5b5fc7", "#c23b3b", "#0f8b8d"];

const inkOf = (c) => { const n = parseInt(c.slice(1), 16); return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0; };
const BLANK = "#e6e6e0", NOBODY = "#9aa0a6";
const pick = (list, number) => list[(((Math.round(number) % list.length) + list.length) % list.length) | 0];

// Offsets of the pixels of a disc in an image that is `width` wide.
function discOf(side, width) {
  const found = [], middle = (side - 1) / 2;
  for (let i = 0; i < side; i++) for (let j = 0; j < side; j++) if ((i - middle) ** 2 + (j - middle) ** 2 <= (side * side) / 4) found.push(i * width + j);
  return found;
}

// One that points to the left (value < 0), to the right, or to both sides.
function triangle(context, x, y, value) {
  for (const side of value ? [Math.sign(value)] : [-1, 1]) {
    context.fillStyle = COLOURS[value < 0 ? 1 : value > 0 ? 2 : 3];
    context.beginPath(); context.moveTo(x + 5 * side, y); context.lineTo(x, y - 5); context.lineTo(x, y + 5); context.fill();
  }
}

class Picture {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.colours = [...view.colours, ...COLOURS.slice(view.colours.length)];
    this.inks = this.colours.map(inkOf);
    this.box = null;
    this.trails = [];
    this.ranges = [];
    this.spots = [];
    this.frame = null;
    this.selected = null;
    this.moved = { k: 1, dx: 0, dy: 0 };
    this.listen();
    canvas.setAttribute("aria-label", "Picture of the simulation; click something to inspect it");
  }

  // Wheel to look closer, drag to move, double click to see all again.
  listen() {
    const { canvas } = this;
    let from = null;
    const zoom = (x, y, factor) => {
      const m = this.moved, k = Math.max(1, Math.min(2000, m.k * factor)), f = k / m.k;
      this.moved = { k, dx: x - (x - m.dx) * f, dy: y - (y - m.dy) * f };
      if (k === 1) this.moved = { k, dx: 0, dy: 0 };
    };
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.offsetX, event.offsetY, Math.exp(-event.deltaY * 0.002)); }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { from = [event.offsetX, event.offsetY]; this.isDragged = false; });
    canvas.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons || this.moved.k === 1) return;
      const [dx, dy] = [event.offsetX - from[0], event.offsetY - from[1]];
      if (Math.abs(dx) + Math.abs(dy) > 3) this.isDragged = true;
      this.moved = { ...this.moved, dx: this.moved.dx + dx, dy: this.moved.dy + dy };
      from = [event.offsetX, event.offsetY];
    });
    canvas.addEventListener("dblclick", () => { this.moved = { k: 1, dx: 0, dy: 0 }; });
    canvas.addEventListener("keydown", (event) => {
      const { width, height } = canvas.getBoundingClientRect(), m = this.moved, step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (event.key === "PageUp") zoom(width / 2, height / 2, 1.5);
      else if (event.key === "PageDown") zoom(width / 2, height / 2, 1 / 1.5);
      else if (step && m.k > 1) this.moved = { ...m, dx: m.dx + step[0], dy: m.dy + step[1] };
      else return;
      event.preventDefault();
    });
  }

  get ink() { return getComputedStyle(document.body).color; }

  // Draw a frame; `ahead`: time since it was taken, for what moves between events. A frame that was drawn before leaves no new trail.
  draw(frame, ahead = 0) {
    const { canvas, view } = this, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    const areas = layOut(view, width, window.innerHeight, frame);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(areas.height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(areas.height * ratio);
      canvas.style.height = areas.height + "px";
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, areas.height);
    this.isNew = frame !== this.frame;
    [this.frame, this.ahead, this.spots] = [frame, ahead, []];
    if (areas.plane) this.plane(context, frame, areas.plane);
    areas.panels.forEach(({ area, k, part }) => drawPanel(context, area, view.marks[k], frame.marks[k], part, this.ink));
  }

  plane(context, frame, area) {
    this.place(frame, area);
    context.save();
    context.beginPath(); context.rect(area.x, area.y, area.width, area.height); context.clip();
    frame.marks.forEach((numbers, k) => { if (!PANELS.has(this.view.marks[k].kind)) this[this.view.marks[k].kind](context, numbers, this.view.marks[k], k); });
    context.restore();
  }

  // Where data lies on the canvas.
  place(frame, area) {
    const m = this.moved, { width, height } = area;
    if (this.view.line) {
      const n = frame.shape.line;
      this.x = (x) => m.dx + m.k * (10 + ((x + 0.5) / n) * (width - 20));
      this.base = height - 26;
      this.width = width;
      return;
    }
    const grid = this.view.marks.findIndex((mark) => mark.kind === "cells"), cells = grid >= 0 ? frame.marks[grid] : null;
    const given = frame.shape.box && frame.shape.box[0] > 0 ? frame.shape.box : cells ? [cells.columns, Math.ceil(cells.count / cells.columns)] : null;
    const box = given ? { x0: 0, y0: 0, x1: given[0], y1: given[1] } : this.grown(frame), margin = cells ? 0 : 24;
    const scale = Math.min((width - margin) / (box.x1 - box.x0), (height - margin) / (box.y1 - box.y0));
    const left = area.x + (width - scale * (box.x1 - box.x0)) / 2, top = (height - scale * (box.y1 - box.y0)) / 2;
    this.middle = cells || this.view.marks.some((mark) => mark.cell) ? 0.5 : 0;
    this.scale = scale * m.k;
    this.origin = [m.dx + m.k * (left - box.x0 * scale), m.dy + m.k * (area.y + height - top + box.y0 * scale)];
    this.x = (x) => this.origin[0] + x * this.scale;
    this.y = (y) => this.origin[1] - y * this.scale;
  }

  // A box that holds all that has been drawn so far.
  grown(frame) {
    let { x0, y0, x1, y1 } = this.box || { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
    frame.marks.forEach((m, k) => {
      const { kind } = this.view.marks[k];
      if (kind === "network") [x0, y0, x1, y1] = [-1.05, -1.05, 1.05, 1.05];
      if (kind !== "points" && kind !== "trajectory") return;
      for (let i = 0, at = 0; i < m.count; i++, at += m.width) {
        const x = m.data[at], y = m.data[at + 1];
        if (x < x0) x0 = x; if (x > x1) x1 = x; if (y < y0) y0 = y; if (y > y1) y1 = y;
      }
    });
    if (!(x1 > x0)) { x0 = (x0 > -Infinity && x0 < Infinity ? x0 : 0) - 1; x1 = x0 + 2; }
    if (!(y1 > y0)) { y0 = (y0 > -Infinity && y0 < Infinity ? y0 : 0) - 1; y1 = y0 + 2; }
    return (this.box = { x0, y0, x1, y1 });
  }

  forget() { this.box = null; this.trails = []; this.ranges = []; }

  arcs(context, m, mark) {
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.beginPath(); context.moveTo(10, this.base); context.lineTo(this.canvas.clientWidth - 10, this.base); context.stroke();
    const places = [];
    let longest = 1;
    for (let k = 0, from = 0; k < m.count; k++, from += m.width) {
      const a = this.x(m.data[from]), b = this.x(m.data[from + 1]);
      if (Number.isNaN(a + b) || Math.max(a, b) < 0 || Math.min(a, b) > this.width) continue;
      places.push([a, b, from]);
      longest = Math.max(longest, Math.abs(b - a));
    }
    const room = Math.min(this.base - 12, longest / 2 + 0.6 * this.base);
    for (const [a, b, from] of places) {
      const middle = (a + b) / 2, radius = Math.abs(b - a) / 2, rise = Math.max(2, room * Math.sqrt((2 * radius) / longest)), row = m.data[from + 3];
      context.strokeStyle = pick(this.colours, m.data[from + 2]);
      const isChosen = this.selected && this.selected.table === mark.table && this.selected.row === row;
      context.globalAlpha = isChosen ? 1 : 0.75;
      context.lineWidth = isChosen ? 3 : 1.3;
      context.beginPath();
      context.ellipse(middle, this.base, Math.max(radius, 0.5), rise, 0, Math.PI, 2 * Math.PI);
      context.stroke();
      this.spots.push([middle, this.base - rise, mark.table, row]);
    }
    context.globalAlpha = 1;
  }

  ticks(context, m) {
    for (let k = 0; k < m.count; k++) {
      const x = this.x(m.data[k * m.width]), value = m.data[k * m.width + 1];
      if (x > -9 && x < this.width + 9) triangle(context, x, this.base + 9, value);
    }
  }

  // Where point number k is now.
  spot(m, mark, k) {
    const at = k * m.width, { data } = m, t = mark.motion ? Math.min(this.ahead, data[at + 6]) : 0;
    return [this.x(data[at] + this.middle + (t ? t * data[at + 4] : 0)), this.y(data[at + 1] + this.middle + (t ? t * data[at + 5] : 0))];
  }

  points(context, m, mark, which) {
    if (mark.trail && m.count <= 1000) this.trail(context, m, mark, which);
    const isMany = m.count > 600, few = isMany ? 0 : m.count;
    if (isMany) this.manyPoints(context, m, mark);
    const radius = Math.max(0.5, Math.min(mark.size, this.middle ? this.scale * 0.8 : mark.size) / 2);
    for (let k = 0; k < few; k++) {
      const [x, y] = this.spot(m, mark, k);
      context.fillStyle = pick(this.colours, m.data[k * m.width + 2]);
      context.beginPath(); context.arc(x, y, radius, 0, 2 * Math.PI); context.fill();
    }
    const chosen = this.selected;
    if (!chosen || chosen.table !== mark.table) return;
    for (let k = 0; k < m.count; k++) if (m.data[k * m.width + 3] === chosen.row) {
      const [x, y] = this.spot(m, mark, k);
      context.strokeStyle = this.ink; context.lineWidth = 1.5;
      context.beginPath(); context.arc(x, y, radius + 4, 0, 2 * Math.PI); context.stroke();
    }
  }

  // Very many: pixels at once.
  manyPoints(context, m, mark) {
    const ratio = window.devicePixelRatio || 1, { width, height } = this.canvas, { data, width: step } = m;
    if (!this.layer || this.layer.width !== width || this.layer.height !== height) {
      this.layer = Object.assign(document.createElement("canvas"), { width, height });
      this.image = this.layer.getContext("2d").createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this, most = m.count > 40000 ? 1 : m.count > 10000 ? 2 : mark.size, side = Math.max(1, Math.round(Math.min(mark.size, most, this.middle ? this.scale * 0.8 : most) * ratio));
    const disc = discOf(side, width), half = side >> 1;
    const [ox, oy, scale, ahead] = [this.origin[0] * ratio, this.origin[1] * ratio, this.scale * ratio, mark.motion ? this.ahead : 0];
    pixels.fill(0);
    const { inks } = this, n = inks.length;
    for (let k = 0, at = 0; k < m.count; k++, at += step) {
      let px = data[at] + this.middle, py = data[at + 1] + this.middle;
      if (ahead > 0) { const t = Math.min(ahead, data[at + 6]); px += t * data[at + 4]; py += t * data[at + 5]; }
      const x = (ox + px * scale - half) | 0, y = (oy - py * scale - half) | 0;
      if (x < 0 || y < 0 || x + side > width || y + side > height) continue;
      const ink = inks[((data[at + 2] % n) + n) % n | 0];
      const from = y * width + x;
      if (side === 1) pixels[from] = ink;
      else for (let i = 0; i < disc.length; i++) pixels[from + disc[i]] = ink;
    }
    this.layer.getContext("2d").putImageData(this.image, 0, 0);
    context.drawImage(this.layer, 0, 0, width / ratio, height / ratio);
  }

  trail(context, m, mark, which) {
    const past = (this.trails[which] = this.trails[which] || []);
    if (this.isNew) past.push(Float32Array.from({ length: m.count * 2 }, (_, i) => m.data[(i >> 1) * m.width + (i & 1)]));
    if (past.length > mark.trail) past.shift();
    context.strokeStyle = this.ink;
    context.globalAlpha = 0.25;
    context.lineWidth = 1;
    context.beginPath();
    for (let k = 0; k < Math.min(m.count, 20000 / past.length); k++) {
      let begun = false;
      for (const at of past) {
        if (2 * k + 1 >= at.length) continue;
        const [x, y] = [this.x(at[2 * k]), this.y(at[2 * k + 1])];
        if (begun) context.lineTo(x, y); else context.moveTo(x, y);
        begun = true;
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  circles(context, m) {
    context.strokeStyle = this.ink;
    context.globalAlpha = 0.3;
    for (let k = 0, at = 0; k < Math.min(m.count, 500); k++, at += m.width) {
      const radius = m.data[at + 2] * this.scale;
      if (!Number.isFinite(radius)) continue;
      context.beginPath(); context.arc(this.x(m.data[at]), this.y(m.data[at + 1]), radius, 0, 2 * Math.PI); context.stroke();
    }
    context.globalAlpha = 1;
  }

  cells(context, m, mark, which) {
    if (!m.count) return;
    const rows = Math.ceil(m.count / m.columns), small = (this.small = this.small || document.createElement("canvas"));
    if (small.width !== m.columns || small.height !== rows) { small.width = m.columns; small.height = rows; }
    const inner = small.getContext("2d"), image = inner.createImageData(m.columns, rows), pixels = new Uint32Array(image.data.buffer);
    const range = (this.ranges[which] = this.ranges[which] || { low: Infinity, high: -Infinity, isWhole: true });
    for (let k = 0; k < m.count; k++) { const v = m.data[k]; if (v < range.low) range.low = v; if (v > range.high) range.high = v; if (v !== Math.round(v)) range.isWhole = false; }
    const { low, high } = range, { inks } = this, isCode = !mark.shades && range.isWhole && high - low < inks.length, blank = inkOf(BLANK);
    for (let k = 0; k < m.count; k++) {
      const v = m.data[k];
      if (isCode) pixels[k] = v === 0 ? blank : inks[(v - 1 + inks.length) % inks.length];
      else { const share = high > low ? (v - low) / (high - low) : 0, s = mark.reverse ? 1 - share : share; pixels[k] = (0xff000000 | ((240 - 190 * s) << 16) | ((235 - 120 * s) << 8) | (230 - 190 * s)) >>> 0; }
    }
    inner.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    const top = this.y(rows), left = this.x(0);
    context.drawImage(small, left, top, this.x(m.columns) - left, this.y(0) - top);
  }

  network(context, m, mark) {
    const spot = (row) => { const turn = (2 * Math.PI * row) / m.count; return [this.x(Math.cos(turn)), this.y(Math.sin(turn))]; };
    context.strokeStyle = this.ink;
    context.globalAlpha = 0.12;
    context.lineWidth = 0.6;
    context.beginPath();
    for (let k = 0; k < m.pairs.length; k += 2) { context.moveTo(...spot(m.pairs[k])); context.lineTo(...spot(m.pairs[k + 1])); }
    context.stroke();
    context.globalAlpha = 1;
    const radius = Math.max(0.8, Math.min(mark.size / 2, (Math.PI * this.scale) / m.count));
    for (let k = 0; k < m.count; k++) {
      const [x, y] = spot(k), v = m.data[2 * k];
      context.fillStyle = v === 0 ? NOBODY : pick(this.colours, v - 1);
      context.beginPath(); context.arc(x, y, radius, 0, 2 * Math.PI); context.fill();
      if (m.count <= 4000) this.spots.push([x, y, mark.table, m.data[2 * k + 1]]);
    }
  }

  trajectory(context, m) {
    const { data, count } = m;
    context.strokeStyle = COLOURS[0];
    context.lineWidth = 1;
    for (let k = 1, chunk = Math.max(1, count >> 3); k < count; k += chunk) { // the older, the fainter
      context.globalAlpha = 0.12 + 0.6 * (k / count) ** 2;
      context.beginPath(); context.moveTo(this.x(data[2 * k - 2]), this.y(data[2 * k - 1]));
      for (let i = k; i < Math.min(count, k + chunk); i++) context.lineTo(this.x(data[2 * i]), this.y(data[2 * i + 1]));
      context.stroke();
    }
    context.globalAlpha = 1;
    context.fillStyle = COLOURS[1];
    context.beginPath(); context.arc(this.x(data[2 * count - 2]), this.y(data[2 * count - 1]), 4, 0, 2 * Math.PI); context.fill();
  }

  // What lies nearest to a place on the canvas: {table, row}.
  at(x, y) {
    let best = null, least = 400;
    const look = (sx, sy, table, row) => { const d = (sx - x) ** 2 + (sy - y) ** 2; if (d < least) { least = d; best = { table, row }; } };
    this.spots.forEach((spot) => look(...spot));
    this.view.marks.forEach((mark, which) => {
      const m = this.frame && this.frame.marks[which];
      if (mark.kind === "points" && m) for (let k = 0; k < m.count; k++) look(...this.spot(m, mark, k), mark.table, m.data[k * m.width + 3]);
      if (mark.kind === "cells" && m && mark.table) {
        const column = Math.floor((x - this.origin[0]) / this.scale), line = Math.floor((this.origin[1] - y) / this.scale), lines = Math.ceil(m.count / m.columns);
        const row = mark.by_column ? column * lines + line : (lines - 1 - line) * m.columns + column;
        if (!best && column >= 0 && column < m.columns && line >= 0 && line < lines && row < m.count) best = { table: mark.table, row };
      }
    });
    return best;
  }
}
