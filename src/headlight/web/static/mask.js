// A head mask in a link: one bit a head, layer by layer, four to a hexadecimal digit.
export function toHex(grid) {
  const bits = grid.flat();
  let hex = "";
  for (let start = 0; start < bits.length; start += 4) {
    const digit = [0, 1, 2, 3].reduce((sum, place) => sum * 2 + (bits[start + place] ? 1 : 0), 0);
    hex += digit.toString(16);
  }
  return hex;
}

export function fromHex(hex, layers, heads) {
  if (hex.length !== Math.ceil((layers * heads) / 4) || !/^[0-9a-f]+$/.test(hex)) return null;
  const isOpen = (place) => Boolean((parseInt(hex[place >> 2], 16) >> (3 - (place & 3))) & 1);
  return Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: heads }, (_, head) => isOpen(layer * heads + head)),
  );
}

export function maskOf(state, model) {
  return state.mask ? fromHex(state.mask, model.layers, model.heads) : null;
}
