/**
 * A value whose changes can be listened to, key by key.
 * @template {object} T
 * @typedef {object} Store
 * @property {() => T} get
 * @property {(patch: Partial<T>) => void} change listeners are called only for keys whose value differs
 * @property {(keys: (keyof T)[] | null, listener: (value: T, changed: (keyof T)[]) => void) => void} listen
 *   to some keys, or to all of them
 */

/**
 * Whether two values are equal; lists are compared item by item.
 * @param {unknown} one
 * @param {unknown} other
 */
function isSame(one, other) {
  if (one === other) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  return one.length === other.length && one.every((item, place) => item === other[place]);
}

/**
 * @template {object} T
 * @param {T} initial
 * @returns {Store<T>}
 */
export function createStore(initial) {
  let value = initial;
  /** @type {{ keys: (keyof T)[] | null, listener: (value: T, changed: (keyof T)[]) => void }[]} */
  const listeners = [];
  return {
    get: () => value,
    change(patch) {
      const given = /** @type {(keyof T)[]} */ (Object.keys(patch));
      const changed = given.filter((key) => !isSame(value[key], patch[key]));
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
