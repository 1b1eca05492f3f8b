// A simulation that runs in the server of this page: a WebSocket that looks like a worker.
"use strict";

class Remote {
  constructor(address) {
    this.waiting = [];
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => { this.waiting.forEach((text) => this.socket.send(text)); this.waiting = null; };
    this.socket.onmessage = (event) => this.onmessage({ data: opened(event.data) });
    this.socket.onclose = () => this.onerror({ message: "The server of this page has ended: start `tocsin view` again." });
  }

  postMessage({ returned, ...message }) {
    const text = JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value)); // Infinity becomes null
    if (this.waiting) this.waiting.push(text);
    else if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }
}

// The facts of a message, with its arrays where they belong.
function opened(buffer) {
  const size = new DataView(buffer).getUint32(0, true), facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  let at = 4 + size;
  if (facts.kind === "saved") return { ...facts, blob: new Blob([new Uint8Array(buffer, at, facts.sizes[0])], { type: "application/octet-stream" }) };
  (facts.marks || []).forEach((mark, k) => { mark.data = new Float32Array(buffer, at, facts.sizes[k]); at += 4 * facts.sizes[k]; });
  return facts;
}
