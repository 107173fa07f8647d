/**
 * What an element can contain; null and undefined are left out.
 * @typedef {string | Node | null | undefined} Child
 * @typedef {Child | Child[] | Child[][]} Children
 */

/**
 * Attributes by name, and listeners by event.
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>} Attributes
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * The element with an id. The pages have every id that a script asks for, so a missing one is a bug.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [kind] the class that the element must have
 * @returns {T}
 */
export function byId(id, kind) {
  const node = document.getElementById(id);
  if (!node || (kind && !(node instanceof kind)))
    throw new Error(`the page has no #${id}${kind ? ` that is a ${kind.name}` : ""}.`);
  return /** @type {T} */ (node);
}

/** @param {string} id */
export const inputById = (id) => byId(id, HTMLInputElement);

/** @param {string} id */
export const selectById = (id) => byId(id, HTMLSelectElement);

/**
 * @param {Children[]} children
 * @returns {(string | Node)[]}
 */
function present(children) {
  return children.flat(2).filter((child) => child !== null && child !== undefined);
}

/**
 * Texts of users and models enter the page only here, as text nodes; nothing is parsed as HTML.
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {Children[]} children
 * @returns {T}
 */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, String(value));
  }
  node.append(...present(children));
  return node;
}

/**
 * A new HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Children[]} children
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * A new SVG element.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Children[]} children
 */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Replace the content of an element.
 * @param {Element} node
 * @param {Children[]} children
 */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
}

/**
 * Offer values in a select.
 * @param {HTMLSelectElement} select
 * @param {string[]} values
 * @param {string} chosen
 * @param {(value: string) => string} [label]
 */
export function options(select, values, chosen, label = (value) => value) {
  fill(
    select,
    values.map((value) => element("option", { value }, label(value))),
  );
  select.value = chosen;
}

/**
 * An action that runs once calls to it have stopped for a while.
 * @param {() => void} action
 * @param {number} milliseconds
 */
export function delayed(action, milliseconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds);
  };
}
