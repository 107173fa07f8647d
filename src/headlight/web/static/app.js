import { followLoading, readAbout } from "/static/about.js";
import { mountCurves } from "/static/curves.js";
import { byId, delayed, fill } from "/static/dom.js";
import { EMPTY, mountExplanation } from "/static/explanation.js";
import { mountExport } from "/static/export.js";
import { mountGeneration } from "/static/generation.js";
import { mountHeads } from "/static/heads.js";
import { mountHiding } from "/static/hiding.js";
import { mountHistory } from "/static/history.js";
import { mountLayers } from "/static/layers.js";
import { mountMapControls, mountMaps } from "/static/maps.js";
import { mountMethods } from "/static/methods.js";
import { mountMixing } from "/static/mixing.js";
import { say } from "/static/notices.js";
import { applyPalette } from "/static/palette.js";
import { mountPrediction } from "/static/prediction.js";
import { mountQuestion } from "/static/question.js";
import { readAddress, restored, writeQuery } from "/static/state.js";
import { createStore } from "/static/store.js";
import { mountTips } from "/static/tip.js";
import { takeTokenFromAddress } from "/static/token.js";

const PARTS = [
  mountQuestion,
  mountMethods,
  mountExplanation,
  mountMapControls,
  mountPrediction,
  mountHiding,
  mountMaps,
  mountLayers,
  mountHeads,
  mountMixing,
  mountGeneration,
  mountCurves,
  mountHistory,
  mountExport,
];

function mountAddress(page) {
  page.writeAddress = () =>
    history.replaceState(null, "", location.pathname + writeQuery(page.state.get()));
  page.state.listen(null, delayed(page.writeAddress, 150));
  addEventListener("hashchange", () => page.state.change(restored(readAddress(), page.about)));
}

async function start() {
  takeTokenFromAddress();
  mountTips();
  const given = readAddress();
  const about = await readAbout(given.model);
  if (!about) return;
  if (!about.models.length)
    return say(
      "models",
      "This server has no model to ask. Start it with `headlight serve --model NAME`.",
    );
  applyPalette(about.palette);
  fill(byId("version"), about.version);
  const page = {
    about,
    session: crypto.randomUUID?.() ?? String(Date.now()),
    state: createStore(restored(given, about)),
    answers: createStore(EMPTY),
  };
  mountAddress(page);
  for (const mount of PARTS) mount(page);
  document.documentElement.dataset.ready = "yes";
  followLoading(page);
}

start();
