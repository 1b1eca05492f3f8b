// A save of the simulation, as `Simulation.load` reads it: a zip of stored .npy members and one of JSON.
"use strict";

function npy(descr, shape, data) {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`;
  header += " ".repeat(63 - ((10 + header.length) % 64)) + "\n";
  const out = new Uint8Array(10 + header.length + data.length);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  out.set(new TextEncoder().encode(header), 10);
  out.set(data, 10 + header.length);
  return out;
}

function zip(members) {
  const parts = [], central = [];
  let at = 0;
  const push = (bytes) => { parts.push(bytes); at += bytes.length; };
  for (const [name, data] of members) {
    const label = new TextEncoder().encode(name), crc = crc32(data), from = at;
    const common = (view, p) => {
      view.setUint16(p, 20, true); view.setUint16(p + 2, 0, true); view.setUint16(p + 4, 0, true);
      view.setUint16(p + 6, 0, true); view.setUint16(p + 8, 0x21, true);
      view.setUint32(p + 10, crc, true); view.setUint32(p + 14, data.length, true); view.setUint32(p + 18, data.length, true);
      view.setUint16(p + 22, label.length, true);
    };
    const local = new Uint8Array(30), head = new DataView(local.buffer);
    head.setUint32(0, 0x04034b50, true);
    common(head, 4);
    push(local); push(label); push(data);
    const entry = new Uint8Array(46), view = new DataView(entry.buffer);
    view.setUint32(0, 0x02014b50, true); view.setUint16(4, 20, true);
    common(view, 6);
    view.setUint32(42, from, true);
    central.push(entry, label);
  }
  const start = at;
  central.forEach(push);
  const end = new Uint8Array(22), view = new DataView(end.buffer);
  view.setUint32(0, 0x06054b50, true);
  view.setUint16(8, members.length, true); view.setUint16(10, members.length, true);
  view.setUint32(12, at - start, true); view.setUint32(16, start, true);
  push(end);
  return new Blob(parts, { type: "application/octet-stream" });
}

// Copy one column out of memory: `n` values of `size` bytes, `step` bytes apart.
function gather(memory, at, n, size, step) {
  const out = new Uint8Array(n * size);
  if (step === size) out.set(memory.subarray(at, at + n * size));
  else for (let k = 0; k < n; k++) out.set(memory.subarray(at + k * step, at + k * step + size), k * size);
  return out;
}

function saveOf(engine) {
  const { save } = engine.config, memory = engine.stateBytes();
  const facts = JSON.stringify({ ...save.facts, seed: 0 }).replace(/"seed":0/, `"seed":${engine.seed}`);
  const members = [["save.json", new TextEncoder().encode(facts)]];
  for (const m of save.members) {
    const n = m.shape.reduce((a, b) => a * b, 1);
    members.push([m.name + ".npy", npy(m.descr, m.shape, gather(memory, m.at, n, m.size, m.step))]);
  }
  return zip(members);
}
