// The simulation: one WebAssembly module on one memory, and ways to read its tables.
// Runs in a worker, in Node and in tests; knows nothing of the page.
"use strict";

const SAMPLED = -1, REACHED_TIME = 0, REACHED_EVENTS = 1, EXHAUSTED = 2, LOG_FULL = 5;
const RESULT = 8, EXCEPTION = 16;
const SIZES = { f8: 8, f4: 4, i8: 8, u8: 8, i4: 4, u4: 4, i2: 2, u2: 2, i1: 1, u1: 1, b1: 1 };

class Engine {
  static async make(config, code, image) {
    const engine = new Engine(config, image);
    await engine.instantiate(code);
    engine.reset(config.seed);
    return engine;
  }

  constructor(config, image) {
    this.config = config;
    this.image = image;
    this.memory = new WebAssembly.Memory({ initial: config.pages });
    const b = this.memory.buffer;
    this.views = {
      f8: new Float64Array(b), f4: new Float32Array(b), i4: new Int32Array(b), u4: new Uint32Array(b),
      i2: new Int16Array(b), u2: new Uint16Array(b), i1: new Int8Array(b), u1: new Uint8Array(b), b1: new Uint8Array(b),
    };
    this.paths = new Map();
  }

  async instantiate(code) {
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, this.config.stack);
    const table = new WebAssembly.Table({ initial: 8, element: "anyfunc" });
    const env = { __linear_memory: this.memory, __stack_pointer: stack, __indirect_function_table: table };
    this.stack = stack;
    this.advance = (await WebAssembly.instantiate(code, { env })).instance.exports.advance;
  }

  // Start again from the exported state, with a seed (a BigInt or a number) and the parameters as they are set now.
  reset(seed) {
    const kept = this.seed === undefined ? [] : this.config.params.map((p) => this.param(p));
    new Uint8Array(this.memory.buffer).set(this.image, this.config.base);
    this.stack.value = this.config.stack;
    this.seed = BigInt(seed);
    const parts = { low: this.seed & 0xffffffffn, high: this.seed >> 32n };
    for (const [address, part] of this.config.seedWords) new BigInt64Array(this.memory.buffer)[address >> 3] = parts[part];
    kept.forEach((value, k) => this.put(this.config.params[k], value));
    this.broken = "";
  }

  // Fire events with time <= until, at most `most`; return a stop code. Throws with a sentence for people.
  run(until, most) {
    if (this.broken) throw new Error(this.broken);
    const { world, kernel } = this.config;
    let status;
    try {
      status = this.advance(RESULT, EXCEPTION, 0, BigInt(world), BigInt(kernel), until, BigInt(Math.min(most, 2 ** 52)));
    } catch (error) {
      this.broken = "The page has no room for more rows, or the model failed: " + error.message + ". Restart, or run it natively.";
      throw new Error(this.broken);
    }
    if (status !== 0) {
      this.broken = "The model raised " + this.exception() + ". Restart with another seed or other parameters.";
      throw new Error(this.broken);
    }
    const stop = this.views.i4[RESULT >> 2];
    const words = this.config.stops;
    if (words[stop]) {
      this.broken = words[stop];
      throw new Error(this.broken);
    }
    if ((stop === REACHED_TIME || stop === EXHAUSTED) && this.now < until && until < Infinity) this.set("now", until);
    return stop;
  }

  // The texts that Numba's code left: the class of an exception and its arguments, out of a pickle that is only scanned.
  exception() {
    const struct = this.views.u4[EXCEPTION >> 2] >> 2;
    const [data, size] = [this.views.u4[struct], this.views.i4[struct + 1]];
    if (!data || size <= 0 || size > 65536) return "an exception";
    const bytes = new Uint8Array(this.memory.buffer, data, size), words = [];
    for (let k = 0; k < size - 1; k++) {
      if (bytes[k] !== 0x8c && bytes[k] !== 0x58) continue;
      const isShort = bytes[k] === 0x8c, from = k + (isShort ? 2 : 5);
      const n = isShort ? bytes[k + 1] : bytes[k + 1] | (bytes[k + 2] << 8);
      if (from + n > size) continue;
      words.push(new TextDecoder().decode(bytes.slice(from, from + n)));
      k = from + n - 1;
    }
    const at = words.findIndex((w) => /(Error|Exception|Iteration)$/.test(w));
    return at < 0 ? "an exception" : words.slice(at, at + 2).join(": ");
  }

  get now() { return this.get("now"); }
  get nEvents() { return this.get("n_events"); }

  // Scalars of the kernel, by name.
  get(name) { return this.scalar(this.config.scalars[name]); }
  set(name, value) { this.putScalar(this.config.scalars[name], value); }

  scalar([dtype, address]) {
    if (dtype === "i8" || dtype === "u8") return this.views.u4[address >> 2] + this.views.i4[(address >> 2) + 1] * 4294967296;
    const value = this.views[dtype][address / SIZES[dtype]];
    return dtype === "b1" ? value !== 0 : value;
  }

  putScalar([dtype, address], value) {
    if (dtype === "i8" || dtype === "u8") new BigInt64Array(this.memory.buffer)[address >> 3] = BigInt(Math.trunc(value));
    else this.views[dtype][address / SIZES[dtype]] = value;
  }

  param(spec) { return this.scalar(spec.place); }
  put(spec, value) { this.putScalar(spec.place, value); }

  // Change a parameter while it runs: every clock is asked again, from now on.
  change(spec, value) {
    this.put(spec, value);
    if (this.get("started") && !this.broken) {
      this.set("started", 0);
      this.run(Infinity, 0);
    }
  }

  nRows(table) { return this.views.i4[(table.header + 8) >> 2]; }
  nLive(table) { return this.views.i4[(table.header + 16) >> 2]; }

  isLive(table, row) {
    return !table.pooled || (this.views.i4[(table.at + table.generation + row * table.size) >> 2] & 1) === 1;
  }

  // A function from a row's number to a value; follows references ("left.site"); NaN behind an empty one.
  column(tableName, path) {
    const key = tableName + "/" + path;
    if (!this.paths.has(key)) this.paths.set(key, this.makeColumn(this.config.tables[tableName], path));
    return this.paths.get(key);
  }

  makeColumn(table, path) {
    if (path === "") return (row) => row;
    const [head, ...rest] = path.split(".");
    const field = table.fields[head];
    const { view, base, step, isWide } = this.place(table, field);
    if (field.target === null) {
      if (!isWide) return (row) => view[base + row * step];
      const low = this.views.u4;
      return (row) => low[base + row * step] + view[base + row * step + 1] * 4294967296;
    }
    const reference = (row) => (isWide && view[base + row * step + 1] < 0 ? -1 : view[base + row * step]);
    if (!rest.length) return reference;
    const target = this.makeColumn(this.config.tables[field.target], rest.join("."));
    return (row) => { const at = reference(row); return at < 0 ? NaN : target(at); };
  }

  place(table, field) {
    const isWide = field.dtype === "i8" || field.dtype === "u8";
    const size = isWide ? 4 : SIZES[field.dtype];
    return { view: this.views[isWide ? "i4" : field.dtype], base: (table.at + field.offset) / size, step: table.size / size, isWide };
  }

  // A function from a number to an entry of a world array, counted through all its dimensions.
  entry(array) {
    const isWide = array.dtype === "i8" || array.dtype === "u8", size = isWide ? 4 : array.size, view = this.views[isWide ? "i4" : array.dtype];
    const base = array.at / size, low = this.views.u4;
    return isWide ? (k) => low[base + 2 * k] + view[base + 2 * k + 1] * 4294967296 : (k) => view[base + k];
  }

  // A function to a value of the world, by its path: "n_present", "legs[3].site", "z[0,1]"; NaN for a place that is not there.
  value(path) {
    const found = /^([\w.]+)\[([\d,]+)\](?:\.([\w.]+))?$/.exec(path);
    if (!found) return () => this.scalar(this.config.globals[path]);
    const places = found[2].split(",").map(Number), table = this.config.tables[found[1]];
    if (table) {
      const read = this.column(found[1], found[3] || "");
      return () => (places[0] < this.nRows(table) ? Number(read(places[0])) : NaN);
    }
    const array = this.config.arrays[found[1]], at = places.reduce((sum, k, d) => sum * array.shape[d] + k, 0), read = this.entry(array);
    return places.every((k, d) => k < array.shape[d]) ? () => Number(read(at)) : () => NaN;
  }

  observables() {
    return this.config.observables.map((o) => this.views.f8[o.at >> 3]);
  }

  counts() {
    return this.config.actions.map((a) => this.scalar(["i8", a.at]));
  }

  // The events since the log was last read: [time, action, row] each.
  takeLog() {
    const { log } = this.config, n = this.get("n_log"), found = [];
    for (let k = 0; k < n; k++) {
      const at = log.at + k * log.size;
      found.push([this.views.f8[at >> 3], this.views.i4[(at + 8) >> 2], this.views.i4[(at + 12) >> 2]]);
    }
    this.set("n_log", 0);
    return found;
  }

  inspect(tableName, row) {
    const table = this.config.tables[tableName], found = {};
    if (!(row >= 0 && row < this.nRows(table))) return null;
    for (const name of Object.keys(table.fields)) found[name] = this.column(tableName, name)(row);
    return { isLive: this.isLive(table, row), fields: found };
  }

  histogram(tableName, path, nBins) {
    const table = this.config.tables[tableName], read = this.column(tableName, path), values = [];
    for (let row = 0, n = this.nRows(table); row < n; row++) {
      if (!this.isLive(table, row)) continue;
      const value = Number(read(row));
      if (Number.isFinite(value)) values.push(value);
    }
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    const counts = new Array(nBins).fill(0), span = high > low ? high - low : 1;
    for (const v of values) counts[Math.min(nBins - 1, Math.floor(((v - low) / span) * nBins))]++;
    return { low, high: low + span, counts, n: values.length };
  }

  stateBytes() { return new Uint8Array(this.memory.buffer); }
}

if (typeof module !== "undefined") module.exports = { Engine, SAMPLED, REACHED_TIME, REACHED_EVENTS, EXHAUSTED, LOG_FULL };
