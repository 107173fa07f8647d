function isSame(one, other) {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return one.length === other.length && one.every((item, place) => item === other[place]);
}

export function createStore(initial) {
  let value = initial;
  const listeners = [];
  return {
    get: () => value,
    change(patch) {
      const changed = Object.keys(patch).filter((key) => !isSame(value[key], patch[key]));
      if (!changed.length) return;
      value = { ...value, ...patch };
      for (const { keys, listener } of listeners) {
        if (!keys || changed.some((key) => keys.includes(key))) listener(value, changed);
      }
    },
    listen(keys, listener) {
      listeners.push({ keys, listener });
    },
  };
}
