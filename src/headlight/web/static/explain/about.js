/** @import { About } from "../shared/replies.js" */
/** @import { Store } from "../shared/store.js" */
import { byId, fill } from "../shared/dom.js";
import { askKindly, say } from "../shared/notices.js";

const PAUSE = 1500;

/** @returns {Promise<void>} */
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE));

/** @param {About} about */
function sayLoading({ loading, failed }) {
  fill(byId("loading"), loading.length ? `Still loading: ${loading.join(", ")}.` : "");
  const broken = Object.entries(failed).map(
    ([name, why]) => `The model “${name}” could not be loaded: ${why}`,
  );
  say("loading", broken.join(" "));
}

/** @returns {Promise<About | null>} */
async function fetched() {
  /** @type {About | null | undefined} */
  const about = await askKindly("/api/about");
  if (about) sayLoading(about);
  return about ?? null;
}

/**
 * What the server offers, as soon as the model that a link asks for (or the first one) is loaded.
 * @param {string | undefined} wanted
 */
export async function readAbout(wanted) {
  for (;;) {
    const about = await fetched();
    if (!about) return null;
    const isThere = about.models.length > 0 && !about.loading.includes(wanted ?? "");
    if (isThere || !about.loading.length) return about;
    await pause();
  }
}

/**
 * Offer models as they finish loading.
 * @param {{ about: Store<About> }} page
 */
export async function followLoading(page) {
  while (page.about.get().loading.length) {
    await pause();
    const about = await fetched();
    if (!about) return;
    page.about.change(about);
  }
}
