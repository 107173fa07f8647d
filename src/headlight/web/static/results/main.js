/** @import { About, Run } from "../shared/replies.js" */
/** @import { State } from "./address.js" */
/** @import { Page } from "./page.js" */
import { byId, fill, options, selectById } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { applyPalette } from "../shared/palette.js";
import { mountTips } from "../shared/tip.js";
import { takeTokenFromAddress } from "../shared/token.js";
import { EMPTY, readQuery, routeOf, writeQuery } from "./address.js";
import { fitted } from "./choices.js";
import { mountCurves } from "./curves.js";
import { mountExamples } from "./examples.js";
import { createPage } from "./page.js";
import { fact, showFacts, showTable } from "./table.js";

/**
 * Set up the chosen run: its facts and its table.
 * @param {Page} page
 */
function mountRun(page) {
  const chooser = selectById("run");

  /** @param {Run} run */
  function choose(run) {
    const chosen = fitted(page.state.get(), run);
    options(selectById("metric"), run.curved, chosen.metric);
    options(selectById("first"), run.methods, chosen.first);
    options(selectById("second"), run.methods, chosen.second);
    page.state.change(chosen);
  }

  async function refresh() {
    fill(byId("facts"), fact("Reading the run", "the first time this may take a minute …"));
    /** @type {Run | null | undefined} */
    const run = await askKindly(routeOf(page.state.get().run), undefined, "run");
    if (!run) return;
    for (const node of document.querySelectorAll(".needs-run")) node.removeAttribute("hidden");
    showFacts(run);
    page.answers.change({ run: null });
    choose(run);
    page.answers.change({ run });
    showSorted();
  }

  function showSorted() {
    const { run } = page.answers.get();
    if (run) showTable(run, page.state.get().sort, (sort) => page.state.change({ sort }));
  }

  const { runs } = page.about;
  byId("no-runs").hidden = runs.length > 0;
  byId("run-field").hidden = runs.length === 0;
  if (!runs.length) return;
  options(chooser, runs, page.state.get().run);
  chooser.addEventListener("change", () => page.state.change({ ...EMPTY, run: chooser.value }));
  page.state.listen(["run"], refresh);
  page.state.listen(["sort"], showSorted);
  refresh();
}

/** @param {State} state */
function writeAddress(state) {
  history.replaceState(null, "", location.pathname + writeQuery(state));
}

async function start() {
  takeTokenFromAddress();
  mountTips();
  /** @type {About | null | undefined} */
  const about = await askKindly("/api/about");
  if (!about) return;
  applyPalette(about.palette);
  fill(byId("version"), about.version);
  const page = createPage(about, readQuery(location.search));
  page.state.listen(null, writeAddress);
  mountCurves(page);
  mountExamples(page);
  mountRun(page);
  document.documentElement.dataset.ready = "yes";
}

start();
