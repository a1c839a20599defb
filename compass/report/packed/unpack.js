"use strict";
// The value that an element of this name holds: JSON, compressed by gzip, in base64.
async function unpack(name) {
  const text = atob(document.getElementById(name).textContent), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const unpacked = "DecompressionStream" in window
    ? await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()
    : inflate(bytes);
  return JSON.parse(new TextDecoder().decode(unpacked));
}
