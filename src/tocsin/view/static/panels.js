// Panels beside the plane: bars and histograms. And how plane and panels share the canvas.
"use strict";

const PANELS = new Set(["bars", "histogram", "marginals"]);

// Where the plane and the panels lie, and how high the canvas is.
function layOut(view, width, windowHeight, frame) {
  const panels = view.marks.flatMap((mark, k) => (PANELS.has(mark.kind) ? Array.from({ length: mark.kind === "marginals" ? frame.marks[k].count : 1 }, (_, part) => ({ k, part })) : []));
  const hasPlane = view.marks.some((mark) => !PANELS.has(mark.kind)), isWide = width > 560, most = Math.max(260, windowHeight - 290);
  if (!panels.length) return { plane: { x: 0, y: 0, width, height: planeHeight(view, width, most) }, panels, height: planeHeight(view, width, most) };
  const columns = hasPlane ? 1 : Math.min(panels.length, isWide ? 2 : 1), lines = Math.ceil(panels.length / columns);
  const side = !hasPlane ? width : isWide ? Math.round(width * 0.38) : width, planeWidth = isWide ? width - side - 8 : width;
  const high = hasPlane ? planeHeight(view, planeWidth, most) : 0, panelHeight = Math.max(90, hasPlane && isWide ? high / lines : Math.min(240, most / lines));
  const from = hasPlane ? (isWide ? [width - side, 0] : [0, high]) : [0, 0];
  panels.forEach((panel, n) => { panel.area = { x: from[0] + ((n % columns) * side) / columns, y: from[1] + Math.floor(n / columns) * panelHeight, width: side / columns, height: panelHeight }; });
  const height = Math.round(hasPlane && isWide ? Math.max(high, panelHeight * lines) : high + panelHeight * lines);
  return { plane: hasPlane ? { x: 0, y: 0, width: planeWidth, height: high } : null, panels, height };
}

function planeHeight(view, width, most) { return Math.round(view.line ? Math.min(420, width * 0.42) : Math.min(width, most)); }

function drawPanel(context, area, mark, m, part, ink) {
  const inner = { x: area.x + 34, y: area.y + 20, width: area.width - 44, height: area.height - 42 };
  if (mark.kind === "bars") return drawBars(context, inner, m.data, m.count, mark.labels.length ? mark.labels : [], mark.label, ink);
  const spec = mark.kind === "marginals" ? mark.values[part] : mark, [low, high, used] = m.spans[part];
  columnsOf(context, inner, m.data.subarray(part * m.width, part * m.width + used), COLOURS[part % COLOURS.length]);
  title(context, inner, `${spec.label || spec.value || spec.place}   (n = ${m.n.toLocaleString("en")})`, ink);
  // whole numbers stand below their columns, others where columns begin and end
  const step = (high - low) / used, isWhole = Number.isInteger(step) && Number.isInteger(low + 0.5), half = isWhole ? inner.width / used / 2 : 0;
  const [first, last] = isWhole ? [low + 0.5, high - step + 0.5] : [low, high];
  (used === 1 && isWhole ? [first] : [first, last]).forEach((v, k) => {
    context.textAlign = half > 8 ? "center" : ["left", "right"][k];
    const x = half > 8 ? [half, inner.width - half][k] : [0, inner.width][k];
    context.fillText(short(v), inner.x + x, inner.y + inner.height + 14);
  });
}

function short(v) { return Number.isInteger(v) && Math.abs(v) < 1e6 ? String(v) : Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(1) : String(Number(v.toPrecision(3))); }

function title(context, inner, text, ink) {
  context.fillStyle = ink;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText(text, inner.x, inner.y - 6, inner.width);
  context.globalAlpha = 0.4;
  context.fillRect(inner.x, inner.y + inner.height, inner.width, 1);
  context.globalAlpha = 1;
}

function columnsOf(context, inner, counts, fill) {
  let most = 0;
  counts.forEach((n) => { most = Math.max(most, n); });
  context.fillStyle = fill;
  const width = inner.width / counts.length;
  if (most) counts.forEach((n, k) => { const height = (n / most) * inner.height; context.fillRect(inner.x + k * width, inner.y + inner.height - height, Math.max(1, width - 0.5), height); });
}

let tallest = {};
function drawBars(context, inner, data, count, labels, label, ink) {
  let most = tallest[label + labels] || 1;
  for (let k = 0; k < count; k++) if (data[k] > most) most = data[k];
  tallest[label + labels] = most;
  title(context, inner, label, ink);
  const width = Math.min(110, inner.width / Math.max(count, 1)), left = inner.x + (inner.width - width * count) / 2, top = 14; // above a bar stands its number
  for (let k = 0; k < count; k++) {
    const height = (Math.max(0, data[k]) / most) * (inner.height - top), x = left + k * width;
    context.fillStyle = COLOURS[(labels.length ? k : 0) % COLOURS.length];
    context.fillRect(x + width * 0.1, inner.y + inner.height - height, Math.max(1, width * 0.8), height);
    if (count > 24) continue;
    context.fillStyle = ink;
    context.textAlign = "center";
    context.fillText(short(data[k]), x + width / 2, inner.y + inner.height - height - 3, width);
    context.fillText(labels[k] || String(k), x + width / 2, inner.y + inner.height + 14, width);
  }
  context.fillStyle = ink;
  context.textAlign = "right";
  context.fillText(short(most), inner.x - 4, inner.y + top + 4);
}
