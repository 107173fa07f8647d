import { byId, fill } from "/static/dom.js";
import { askKindly, say } from "/static/notices.js";

const PAUSE = 1500;

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE));

function sayLoading({ loading, failed }) {
  const waiting = loading.length ? `Still loading: ${loading.join(", ")}.` : "";
  fill(byId("loading"), waiting);
  const broken = Object.entries(failed).map(
    ([name, why]) => `The model “${name}” could not be loaded: ${why}`,
  );
  say("loading", broken.join(" "));
}

async function fetched() {
  const about = await askKindly("/api/about");
  return about && { loading: [], failed: {}, ...about };
}

// Waits for the model that a link asks for, or for the first one.
export async function readAbout(wanted) {
  for (;;) {
    const about = await fetched();
    if (!about) return null;
    sayLoading(about);
    const isThere = about.models.length && !about.loading.includes(wanted);
    if (isThere || !about.loading.length) return about;
    await pause();
  }
}

export async function followLoading(page) {
  while (page.about.loading.length) {
    await pause();
    const about = await fetched();
    if (!about) return;
    sayLoading(about);
    page.about = about;
    page.answers.change({ offered: about.models.map(({ name }) => name) });
  }
}
