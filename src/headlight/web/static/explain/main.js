/** @import { Page } from "./page.js" */
import { byId, delayed, fill } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { applyPalette } from "../shared/palette.js";
import { mountTips } from "../shared/tip.js";
import { takeTokenFromAddress } from "../shared/token.js";
import { followLoading, readAbout } from "./about.js";
import { mountAnswers } from "./answers.js";
import { mountExport } from "./export.js";
import { mountGeneration } from "./generation.js";
import { mountHeads } from "./heads.js";
import { mountHiding } from "./hiding.js";
import { mountHistory } from "./history.js";
import { mountLayers } from "./layers.js";
import { mountMapControls, mountMaps } from "./maps.js";
import { mountMethods } from "./methods.js";
import { mountMixing } from "./mixing.js";
import { createPage, writeAddress } from "./page.js";
import { mountPrediction } from "./prediction.js";
import { mountQuestion } from "./question.js";
import { readAddress, restored } from "./state.js";
import { mountSwitching } from "./switching.js";
import { mountTrust } from "./trust.js";

const PAUSE = 150;
const NO_MODEL = "This server has no model. Start it with `headlight serve --model NAME`.";

/** @param {Page} page */
function mountAddress(page) {
  page.state.listen(
    null,
    delayed(() => writeAddress(page), PAUSE),
  );
  addEventListener("hashchange", () =>
    page.state.change(restored(readAddress(), page.about.get())),
  );
}

/** @param {Page} page */
function mountAll(page) {
  mountAddress(page);
  const settle = mountQuestion(page);
  mountMethods(page);
  mountAnswers(page);
  mountMapControls(page);
  mountPrediction(page);
  mountHiding(page);
  mountMaps(page);
  mountLayers(page);
  mountHeads(page);
  mountSwitching(page);
  mountMixing(page);
  mountGeneration(page, settle);
  mountTrust(page);
  mountHistory(page);
  mountExport(page, settle);
}

async function start() {
  takeTokenFromAddress();
  mountTips();
  const given = readAddress();
  const about = await readAbout(given.model);
  if (!about) return;
  if (!about.models.length) return say("models", NO_MODEL);
  applyPalette(about.palette);
  fill(byId("version"), about.version);
  const page = createPage(about, given);
  mountAll(page);
  document.documentElement.dataset.ready = "yes";
  followLoading(page);
}

start();
