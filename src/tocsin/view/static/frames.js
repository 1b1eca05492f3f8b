// What a picture needs, as numbers: one message a frame, in arrays that the page hands back when it has drawn them.
"use strict";

const MOST_SAMPLES = 1 << 16, N_BINS = 48, MOST_BARS = 400;

class Frames {
  constructor(engine, view) {
    this.engine = engine;
    this.view = view;
    this.spare = [];
    this.series = view.series.map(([, path]) => engine.value(path));
    const along = view.marks.flatMap((m) => (m.kind === "trajectory" ? [m.x, m.y] : m.kind === "marginals" ? m.values : []));
    this.sampled = along.map((spec) => this.along(spec));
    this.forget();
  }

  // The simulation begins anew: so do the samples.
  forget() {
    this.samples = this.sampled.map(() => []);
    this.every = this.view.every;
    this.next = this.sampled.length ? this.engine.now + this.every : Infinity;
  }

  // As `Engine.run`, but stopping to take samples at times that are `every` apart.
  run(until, most) {
    const stop = this.engine.run(Math.min(until, this.next), most);
    if (stop !== REACHED_TIME || this.engine.now < this.next) return stop;
    this.sampled.forEach((read, k) => this.samples[k].push(read()));
    this.next += this.every;
    if (this.samples[0].length >= MOST_SAMPLES) { // keep every other one, and take half as many from now on
      this.samples = this.samples.map((list) => list.filter((_, k) => k % 2 === 1));
      this.every *= 2;
      this.next += this.every / 2;
    }
    return this.engine.now >= until ? REACHED_TIME : SAMPLED;
  }

  // A function to the value now of something that moves between events.
  along(spec) {
    const read = (path, other) => (typeof path === "number" ? () => path : path ? this.engine.value(path) : () => other);
    const [place, velocity, since, centre, scale, circle] = [read(spec.place), read(spec.velocity, 0), read(spec.since, 0), read(spec.centre, 0), read(spec.scale, 1), read(spec.circle, 0)];
    return () => {
      const z = place(), v = velocity(), t = this.engine.now - since();
      const moved = v === 0 ? z : circle() ? z * Math.cos(t) + v * Math.sin(t) : z + v * t;
      return centre() + scale() * moved;
    };
  }

  // The message, and the buffers that it hands over.
  take() {
    const { engine, view } = this;
    let at = 0;
    const marks = view.marks.map((mark) => {
      const from = at;
      at += mark.kind === "trajectory" ? 2 : mark.kind === "marginals" ? mark.values.length : 0;
      return this[mark.kind](mark, from);
    });
    const shape = {};
    if (view.line) shape.line = engine.nRows(engine.config.tables[view.line]);
    if (view.box) shape.box = view.box.map((name) => engine.scalar(engine.config.globals[name]));
    const message = {
      marks, shape, now: engine.now, nEvents: engine.nEvents, observables: [...engine.observables(), ...this.series.map((read) => read())], counts: engine.counts(),
    };
    return [message, marks.map((m) => m.data.buffer)];
  }

  room(n) {
    const at = this.spare.findIndex((b) => b.byteLength >= n * 4 && b.byteLength <= n * 16 + 4096);
    return at >= 0 ? new Float32Array(this.spare.splice(at, 1)[0]) : new Float32Array(Math.ceil(n * 1.25) + 64);
  }

  // Rows of a table, each as what the readers say and its number; those for which `isSeen` says no are left out.
  rows(name, readers, isSeen) {
    const { engine } = this, table = engine.config.tables[name], n = engine.nRows(table), width = readers.length + 1, data = this.room(n * width);
    let k = 0, count = 0;
    for (let row = 0; row < n; row++) {
      if (!engine.isLive(table, row) || (isSeen && !isSeen(row))) continue;
      for (const read of readers) data[k++] = Number(read(row));
      data[k++] = row;
      count++;
    }
    return { data, count, width };
  }

  column(mark, path, other) { return path ? this.engine.column(mark.table, path) : other; }

  arcs(mark) { return this.rows(mark.table, [this.column(mark, mark.start), this.column(mark, mark.end), this.column(mark, mark.colour, () => 0)]); }

  ticks(mark) {
    const value = this.column(mark, mark.value, () => 1);
    return this.rows(mark.table, [this.column(mark, mark.x, (row) => row), value], mark.zeros ? (row) => !Number.isNaN(value(row)) : value); // NaN lies behind an empty reference
  }

  circles(mark) { return this.rows(mark.table, [this.column(mark, mark.x), this.column(mark, mark.y), this.column(mark, mark.radius)]); }

  // x, y, colour, row; and for what moves: velocities and for how long they hold, as of now.
  points(mark) {
    const { engine } = this, table = engine.config.tables[mark.table], n = engine.nRows(table), nothing = () => 0, { motion } = mark, width = motion ? 7 : 4;
    let x = this.column(mark, mark.x, nothing), y = this.column(mark, mark.y, nothing);
    if (mark.cell) {
      const cell = engine.column(mark.table, mark.cell), long = engine.scalar(engine.config.globals[this.view.box[0]]);
      x = (row) => (cell(row) < 0 ? NaN : cell(row) % long);
      y = (row) => (cell(row) < 0 ? NaN : Math.floor(cell(row) / long));
    }
    const colour = this.column(mark, mark.colour, nothing), data = this.room(n * width), move = motion ? this.motion(mark, x, y) : null;
    let k = 0, count = 0;
    for (let row = 0; row < n; row++) {
      if (!engine.isLive(table, row)) continue;
      data[k] = x(row); data[k + 1] = y(row); data[k + 2] = Number(colour(row)) + mark.shade; data[k + 3] = row;
      if (move) move(row, data, k);
      k += width;
      count++;
    }
    return { data, count, width };
  }

  motion(mark, x, y) {
    const { motion } = mark, { now } = this.engine, begun = this.engine.get("begun_at"), ticked = begun + Math.floor((now - begun) / motion.every) * motion.every;
    const since = this.column(mark, motion.since, () => ticked), times = motion.times ? this.engine.value(motion.times)() : 1, only = motion.only ? this.column(mark, motion.only[0]) : null;
    const [vx, vy] = motion.velocity.map((p) => this.column(mark, p)), [gx, gy] = motion.goal.map((p) => this.column(mark, p)), pace = this.column(mark, motion.pace, () => 1);
    return (row, data, k) => {
      data[k + 4] = data[k + 5] = 0; data[k + 6] = Infinity;
      if (only && Number(only(row)) !== motion.only[1]) return;
      const t = now - since(row);
      if (motion.goal.length) {
        const speed = pace(row), share = Math.min(1, t * speed), dx = gx(row) - x(row), dy = gy ? gy(row) - y(row) : 0;
        data[k] += share * dx; data[k + 1] += share * dy;
        if (share < 1) { data[k + 4] = speed * dx; data[k + 5] = speed * dy; data[k + 6] = (1 - share) / speed; }
      } else {
        data[k + 4] = times * vx(row); data[k + 5] = vy ? times * vy(row) : 0;
        data[k] += data[k + 4] * t; data[k + 1] += data[k + 5] * t;
      }
    };
  }

  cells(mark) {
    const { engine } = this, box = this.view.box && this.view.box.map((name) => engine.scalar(engine.config.globals[name]));
    let read, n, columns = mark.columns;
    if (mark.array) {
      const array = engine.config.arrays[mark.array];
      n = array.shape.reduce((a, b) => a * b, 1);
      read = engine.entry(array);
      if (array.shape.length > 1) columns = mark.by_column ? array.shape[0] : array.shape[1];
    } else {
      n = engine.nRows(engine.config.tables[mark.table]);
      read = engine.column(mark.table, mark.value);
    }
    columns = columns || (box && box[0] * box[1] === n ? box[0] : Math.ceil(Math.sqrt(n)));
    const lines = Math.ceil(n / columns), data = this.room(n);
    if (!mark.by_column && box) for (let k = 0; k < n; k++) data[(lines - 1 - Math.floor(k / columns)) * columns + (k % columns)] = Number(read(k));
    else if (!mark.by_column) for (let k = 0; k < n; k++) data[k] = Number(read(k));
    else for (let k = 0, x = 0, y = 0; k < n; k++) { // as lines from the top, y upwards
      data[(lines - 1 - y) * columns + x] = Number(read(k));
      if (++y === lines) { y = 0; x++; }
    }
    return { data, count: n, width: 1, columns };
  }

  // Colours of the rows in a ring; the pairs of neighbours are sent once.
  network(mark) {
    const found = this.rows(mark.table, [this.column(mark, mark.colour, () => 0)]), { arrays } = this.engine.config;
    if (!this.pairs) {
      const first = this.engine.entry(arrays[mark.first]), other = this.engine.entry(arrays[mark.neighbours]);
      this.pairs = [];
      for (let row = 0; row + 1 < arrays[mark.first].shape[0] && this.pairs.length < 20000; row++) for (let k = first(row); k < first(row + 1); k++) if (other(k) > row) this.pairs.push(row, other(k));
    }
    return { ...found, pairs: this.pairs };
  }

  trajectory(mark, from) {
    const [xs, ys] = this.samples.slice(from, from + 2), n = Math.min(xs.length, mark.trail), data = this.room(2 * n + 2);
    for (let k = 0; k < n; k++) { data[2 * k] = xs[xs.length - n + k]; data[2 * k + 1] = ys[ys.length - n + k]; }
    data[2 * n] = this.sampled[from](); data[2 * n + 1] = this.sampled[from + 1]();
    return { data, count: n + 1, width: 2 };
  }

  // Counts of N_BINS bins for each number, one after the other; and where they begin and end.
  marginals(mark, from) {
    const data = this.room(mark.values.length * N_BINS), n = this.samples[from].length;
    const spans = mark.values.map((_, k) => bin(this.samples[from + k], data, k * N_BINS));
    return { data, count: mark.values.length, width: N_BINS, spans, n };
  }

  histogram(mark) {
    const { data, count, width } = this.rows(mark.table, [this.engine.column(mark.table, mark.value)]), values = [];
    for (let k = 0; k < count; k++) if (Number.isFinite(data[k * width])) values.push(data[k * width]);
    const counts = this.room(N_BINS);
    return { data: counts, count: 1, width: N_BINS, spans: [bin(values, counts, 0)], n: values.length };
  }

  bars(mark) {
    if (mark.table) {
      const { data, count } = this.rows(mark.table, [this.engine.column(mark.table, mark.value)]), n = Math.min(count, MOST_BARS);
      for (let k = 0; k < n; k++) data[k] = data[2 * k];
      return { data, count: n, width: 1 };
    }
    if (mark.array) {
      const { arrays } = this.engine.config, array = arrays[mark.array], [n, step] = array.shape, data = this.room(n), read = this.engine.entry(array);
      for (let k = 0; k < n; k++) data[k] = Number(read(k * step + mark.column));
      return { data, count: n, width: 1 };
    }
    const data = this.room(mark.values.length);
    mark.values.forEach((path, k) => { data[k] = Number(this.engine.value(path)()); });
    return { data, count: mark.values.length, width: 1 };
  }
}

// Count values in N_BINS bins of data[at ...]; few whole numbers have a bin each. Returns [low, high, bins used].
function bin(values, data, at) {
  let low = Infinity, high = -Infinity, isWhole = true;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; if (isWhole && v !== Math.floor(v)) isWhole = false; }
  if (!(high >= low)) [low, high] = [0, 1];
  let used = N_BINS;
  if (isWhole) {
    const step = Math.ceil((high - low + 1) / N_BINS);
    used = Math.ceil((high - low + 1) / step);
    low -= 0.5;
    high = low + used * step;
  } else if (high === low) high = low + 1;
  data.fill(0, at, at + N_BINS);
  for (const v of values) data[at + Math.min(used - 1, Math.floor(((v - low) / (high - low)) * used))]++;
  return [low, high, used];
}
