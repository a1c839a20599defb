"use strict";
// The value that an element of this name holds: JSON, compressed by gzip, in base64.
async function unpack(name) {
  if (!("DecompressionStream" in window))
    throw new Error("this browser is too old to unpack the page's data; open the page in a browser of 2023 or later, or read the files under data/");
  const text = atob(document.getElementById(name).textContent), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(unpacked).text());
}
