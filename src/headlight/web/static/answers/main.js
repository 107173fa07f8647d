/** @import { About } from "../shared/replies.js" */
/** @import { Page } from "./page.js" */
import { followLoading, readAbout } from "../explain/about.js";
import { byId, delayed, fill } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { applyPalette } from "../shared/palette.js";
import { mountTips } from "../shared/tip.js";
import { takeTokenFromAddress } from "../shared/token.js";
import { readHash, writeHash } from "./address.js";
import { mountAsking } from "./asking.js";
import { createPage, writersOf } from "./page.js";
import { mountPointing } from "./pointing.js";
import { mountQuestion } from "./question.js";
import { mountRead } from "./read.js";
import { mountSaid } from "./said.js";
import { mountWithout } from "./without.js";

const PAUSE = 150;
const USUAL = "llm";
const NO_MODEL =
  "No model of this server writes text. Start it with `headlight serve --model llm`.";

/**
 * What the server offers, as soon as a model that writes is loaded.
 * @param {string} wanted
 * @returns {Promise<About | null>}
 */
async function readWriters(wanted) {
  let about = await readAbout(wanted);
  while (about && !writersOf(about).length && about.loading.length)
    about = await readAbout(about.loading[0]);
  return about;
}

/** @param {Page} page */
function mountAddress(page) {
  const write = () => history.replaceState(null, "", writeHash(page.state.get()));
  page.state.listen(null, delayed(write, PAUSE));
}

async function start() {
  takeTokenFromAddress();
  mountTips();
  const given = readHash(location.hash);
  const about = await readWriters(given.model || USUAL);
  if (!about) return;
  fill(byId("version"), about.version);
  if (!writersOf(about).length) return say("models", NO_MODEL);
  applyPalette(about.palette);
  const page = createPage(about, given);
  mountAddress(page);
  mountQuestion(page);
  mountSaid(page);
  mountRead(page);
  mountPointing(page);
  mountWithout(page);
  mountAsking(page);
  document.documentElement.dataset.ready = "yes";
  followLoading(page);
}

start();
