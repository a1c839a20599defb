"use strict";
// Inflates gzip (RFC 1951, RFC 1952) where the browser has no DecompressionStream.
function inflate(input) {
  const LENGTH = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
  const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
  const FAR = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
  const FAR_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  // The size in the trailer; the header that Python writes has ten bytes.
  const end = input.length - 4;
  const size = (input[end] | (input[end + 1] << 8) | (input[end + 2] << 16) | (input[end + 3] << 24)) >>> 0;
  const output = new Uint8Array(size);
  let place = 10, held = 0, count = 0, written = 0;

  function bits(wanted) {
    while (count < wanted) { held |= input[place++] << count; count += 8; }
    const value = held & ((1 << wanted) - 1);
    held >>>= wanted; count -= wanted;
    return value;
  }
  // Canonical codes: how many there are of each length, and the symbols in the order of their codes.
  function table(lengths) {
    const counts = new Uint16Array(16), starts = new Uint16Array(16), symbols = new Uint16Array(lengths.length);
    for (const length of lengths) counts[length]++;
    counts[0] = 0;
    for (let length = 1; length < 15; length++) starts[length + 1] = starts[length] + counts[length];
    lengths.forEach((length, symbol) => { if (length) symbols[starts[length]++] = symbol; });
    return { counts, symbols };
  }
  function symbol({ counts, symbols }) {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; length++) {
      code |= bits(1);
      if (code - first < counts[length]) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("The rows of this page are damaged; make it again.");
  }
  function dynamic() {
    const literals = bits(5) + 257, distances = bits(5) + 1, codes = bits(4) + 4;
    const small = new Array(19).fill(0);
    for (let number = 0; number < codes; number++) small[ORDER[number]] = bits(3);
    const lengths = [], read = table(small);
    while (lengths.length < literals + distances) {
      const found = symbol(read);
      if (found < 16) lengths.push(found);
      else {
        const repeated = found === 16 ? lengths[lengths.length - 1] : 0;
        for (let left = found === 16 ? bits(2) + 3 : found === 17 ? bits(3) + 3 : bits(7) + 11; left; left--) lengths.push(repeated);
      }
    }
    return [table(lengths.slice(0, literals)), table(lengths.slice(literals))];
  }
  function fixed() {
    const lengths = [...new Array(144).fill(8), ...new Array(112).fill(9), ...new Array(24).fill(7), ...new Array(8).fill(8)];
    return [table(lengths), table(new Array(30).fill(5))];
  }
  for (let last = 0; !last;) {
    last = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      held = count = 0;
      const length = input[place] | (input[place + 1] << 8);
      output.set(input.subarray(place + 4, place + 4 + length), written);
      place += 4 + length; written += length;
      continue;
    }
    const [literal, distance] = kind === 1 ? fixed() : dynamic();
    for (let found = symbol(literal); found !== 256; found = symbol(literal)) {
      if (found < 256) { output[written++] = found; continue; }
      const length = LENGTH[found - 257] + bits(LENGTH_BITS[found - 257]);
      const far = symbol(distance), back = FAR[far] + bits(FAR_BITS[far]);
      for (let left = length; left; left--, written++) output[written] = output[written - back];
    }
  }
  return output;
}
