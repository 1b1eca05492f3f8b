// Marks on a canvas: what the worker sends as numbers becomes a picture. Knows no model.
"use strict";

const COLOURS = ["#3b6fb6", "#d1652b", "#2f9367", "#a33f7f", "#8a6d1d", "#5b5fc7", "#c23b3b", "#0f8b8d"];

class Picture {
  constructor(canvas, view) {
    this.canvas = canvas;
    this.view = view;
    this.box = null;
    this.trails = [];
    this.spots = [];
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

  draw(frame) {
    const { canvas } = this, ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    const isLine = Boolean(this.view.line), height = Math.round(isLine ? Math.min(420, width * 0.42) : Math.min(width, window.innerHeight * 0.72));
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = height + "px";
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.spots = [];
    this.frame(frame, width, height);
    frame.marks.forEach((numbers, k) => this[this.view.marks[k].kind](context, numbers, this.view.marks[k], k));
  }

  // Where data lies on the canvas.
  frame(frame, width, height) {
    if (this.view.line) {
      const n = frame.shape.line;
      const m = this.moved;
      this.x = (x) => m.dx + m.k * (10 + ((x + 0.5) / n) * (width - 20));
      this.base = height - 26;
      this.width = width;
      return;
    }
    const box = frame.shape.box && frame.shape.box[0] > 0 ? { x0: 0, y0: 0, x1: frame.shape.box[0], y1: frame.shape.box[1] } : this.grown(frame);
    const scale = Math.min((width - 24) / (box.x1 - box.x0), (height - 24) / (box.y1 - box.y0));
    const left = (width - scale * (box.x1 - box.x0)) / 2, top = (height - scale * (box.y1 - box.y0)) / 2;
    const m = this.moved;
    this.x = (x) => m.dx + m.k * (left + (x - box.x0) * scale);
    this.y = (y) => m.dy + m.k * (height - top - (y - box.y0) * scale);
    this.scale = scale * m.k;
  }

  // A box that holds all that has been drawn so far.
  grown(frame) {
    let { x0, y0, x1, y1 } = this.box || { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
    frame.marks.forEach((m, k) => {
      if (this.view.marks[k].kind !== "points") return;
      for (let i = 0, at = 0; i < m.count; i++, at += m.width) {
        const x = m.data[at], y = m.data[at + 1];
        if (x < x0) x0 = x; if (x > x1) x1 = x; if (y < y0) y0 = y; if (y > y1) y1 = y;
      }
    });
    if (!(x1 > x0)) { x0 = (x0 > -Infinity && x0 < Infinity ? x0 : 0) - 1; x1 = x0 + 2; }
    if (!(y1 > y0)) { y0 = (y0 > -Infinity && y0 < Infinity ? y0 : 0) - 1; y1 = y0 + 2; }
    return (this.box = { x0, y0, x1, y1 });
  }

  forget() { this.box = null; this.trails = []; }

  arcs(context, m, mark) {
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.beginPath(); context.moveTo(10, this.base); context.lineTo(this.canvas.clientWidth - 10, this.base); context.stroke();
    const places = [];
    let longest = 1;
    for (let k = 0, at = 0; k < m.count; k++, at += m.width) {
      const a = this.x(m.data[at]), b = this.x(m.data[at + 1]);
      if (Number.isNaN(a + b) || Math.max(a, b) < 0 || Math.min(a, b) > this.width) continue;
      places.push([a, b, at]);
      longest = Math.max(longest, Math.abs(b - a));
    }
    const room = Math.min(this.base - 12, longest / 2 + 0.4 * this.base);
    for (const [a, b, at] of places) {
      const middle = (a + b) / 2, radius = Math.abs(b - a) / 2, rise = Math.max(2, room * Math.sqrt((2 * radius) / longest)), row = m.data[at + 3];
      context.strokeStyle = COLOURS[(Math.round(m.data[at + 2]) % COLOURS.length + COLOURS.length) % COLOURS.length];
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

  ticks(context, m, mark) {
    for (let k = 0, at = 0; k < m.count; k++, at += m.width) {
      const x = this.x(m.data[at]), value = m.width > 2 ? m.data[at + 1] : 1;
      if (x < -9 || x > this.width + 9) continue;
      context.fillStyle = COLOURS[value < 0 ? 1 : 2];
      context.beginPath();
      context.moveTo(x + (value < 0 ? -5 : 5), this.base + 9);
      context.lineTo(x, this.base + 4); context.lineTo(x, this.base + 14);
      context.fill();
    }
  }

  points(context, m, mark, which) {
    if (mark.trail) this.trail(context, m, mark, which);
    if (m.count > 4000) return this.manyPoints(context, m, mark);
    const radius = mark.size / 2;
    for (let k = 0, at = 0; k < m.count; k++, at += m.width) {
      const x = this.x(m.data[at]), y = this.y(m.data[at + 1]);
      context.fillStyle = COLOURS[(m.data[at + 2] % COLOURS.length + COLOURS.length) % COLOURS.length | 0];
      context.beginPath(); context.arc(x, y, radius, 0, 2 * Math.PI); context.fill();
      if (this.selected && this.selected.table === mark.table && this.selected.row === m.data[at + 3]) {
        context.strokeStyle = this.ink; context.lineWidth = 1.5;
        context.beginPath(); context.arc(x, y, radius + 4, 0, 2 * Math.PI); context.stroke();
      }
      this.spots.push([x, y, mark.table, m.data[at + 3]]);
    }
  }

  // Very many: pixels at once.
  manyPoints(context, m, mark) {
    const ratio = window.devicePixelRatio || 1, { width, height } = this.canvas;
    const image = context.getImageData(0, 0, width, height), pixels = new Uint32Array(image.data.buffer);
    const inks = COLOURS.map((c) => { const n = parseInt(c.slice(1), 16); return (0xff000000 | ((n & 255) << 16) | (n & 0xff00) | (n >> 16)) >>> 0; });
    const side = Math.max(1, Math.round((m.count > 40000 ? 1 : 2) * ratio));
    for (let k = 0, at = 0; k < m.count; k++, at += m.width) {
      const x = (this.x(m.data[at]) * ratio) | 0, y = (this.y(m.data[at + 1]) * ratio) | 0;
      if (x < 0 || y < 0 || x + side > width || y + side > height) continue;
      const ink = inks[(m.data[at + 2] % COLOURS.length + COLOURS.length) % COLOURS.length | 0];
      for (let i = 0; i < side; i++) for (let j = 0; j < side; j++) pixels[(y + i) * width + x + j] = ink;
    }
    context.putImageData(image, 0, 0);
    if (m.count <= 20000) for (let k = 0, at = 0; k < m.count; k++, at += m.width) this.spots.push([this.x(m.data[at]), this.y(m.data[at + 1]), mark.table, m.data[at + 3]]);
  }

  trail(context, m, mark, which) {
    const past = (this.trails[which] = this.trails[which] || []);
    past.push(Float32Array.from({ length: m.count * 2 }, (_, i) => m.data[(i >> 1) * m.width + (i & 1)]));
    if (past.length > mark.trail) past.shift();
    context.strokeStyle = this.ink;
    context.globalAlpha = 0.25;
    context.lineWidth = 1;
    context.beginPath();
    for (let k = 0; k < Math.min(m.count, 2000); k++) {
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

  cells(context, m) {
    const rows = Math.ceil(m.count / m.columns), small = (this.small = this.small || document.createElement("canvas"));
    small.width = m.columns; small.height = rows;
    const inner = small.getContext("2d"), image = inner.createImageData(m.columns, rows);
    let low = Infinity, high = -Infinity, isWhole = true;
    for (let k = 0; k < m.count; k++) { const v = m.data[k]; if (v < low) low = v; if (v > high) high = v; if (v !== Math.round(v)) isWhole = false; }
    const isCode = isWhole && high - low < COLOURS.length;
    for (let k = 0; k < m.count; k++) {
      const v = m.data[k];
      let rgb;
      if (isCode && v === 0) rgb = 0xe6e6e0;
      else if (isCode) rgb = parseInt(COLOURS[(v - 1 + COLOURS.length) % COLOURS.length].slice(1), 16);
      else { const s = high > low ? (v - low) / (high - low) : 0; rgb = ((255 * Math.min(1, s * 1.6)) << 16) | ((60 + 160 * s) << 8) | (90 + 120 * (1 - s)); }
      image.data.set([(rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, 255], 4 * k);
    }
    inner.putImageData(image, 0, 0);
    const width = this.canvas.clientWidth, height = parseFloat(this.canvas.style.height);
    const scale = Math.min(width / m.columns, height / rows);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, (width - scale * m.columns) / 2, (height - scale * rows) / 2, scale * m.columns, scale * rows);
  }

  // What lies nearest to a place on the canvas: [table, row].
  at(x, y) {
    let best = null, least = 400;
    for (const [sx, sy, table, row] of this.spots) {
      const d = (sx - x) ** 2 + (sy - y) ** 2;
      if (d < least) { least = d; best = { table, row }; }
    }
    return best;
  }
}
