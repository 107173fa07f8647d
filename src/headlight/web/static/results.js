import { byId, fill, options } from "/static/dom.js";
import { askKindly } from "/static/notices.js";
import { applyPalette } from "/static/palette.js";
import { EMPTY, addressOf, readAddress, writeAddress } from "/static/runaddress.js";
import { mountRunCurves } from "/static/runcurves.js";
import { mountExamples } from "/static/runexamples.js";
import { fact, ranked, showFacts, showTable } from "/static/runtable.js";
import { createStore } from "/static/store.js";
import { mountTips } from "/static/tip.js";
import { takeTokenFromAddress } from "/static/token.js";

function mountRun(page) {
  const oneOf = (value, values, usual) => (values.includes(value) ? value : (usual ?? ""));

  function choose(run) {
    const { metric, first, second } = page.state.get();
    const best = [
      ...ranked(run, run.table[0]?.metric).filter((name) => name !== "random"),
      ...run.methods,
    ];
    const chosen = {
      metric: oneOf(metric, run.curved, run.curved[0]),
      first: oneOf(first, run.methods, best[0]),
    };
    chosen.second = oneOf(
      second,
      run.methods,
      best.find((name) => name !== chosen.first) ?? chosen.first,
    );
    options(byId("metric"), run.curved, chosen.metric);
    options(byId("first"), run.methods, chosen.first);
    options(byId("second"), run.methods, chosen.second);
    return chosen;
  }

  async function refresh() {
    const { run: name } = page.state.get();
    fill(byId("facts"), fact("Reading the run", "the first time this may take a minute …"));
    const run = await askKindly(addressOf(name), undefined, "run");
    if (!run) return;
    for (const node of document.querySelectorAll(".needs-run")) node.hidden = false;
    showFacts(run);
    page.answers.change({ run: null });
    page.state.change(choose(run));
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
  options(byId("run"), runs, page.state.get().run);
  byId("run").addEventListener("change", (event) =>
    page.state.change({ ...EMPTY, run: event.target.value }),
  );
  page.state.listen(["run"], refresh);
  page.state.listen(["sort"], showSorted);
  refresh();
}

async function start() {
  takeTokenFromAddress();
  mountTips();
  const about = await askKindly("/api/about");
  if (!about) return;
  applyPalette(about.palette);
  fill(byId("version"), about.version);
  const given = readAddress();
  const run = about.runs.includes(given.run) ? given.run : (about.runs[0] ?? "");
  const page = {
    about,
    state: createStore({ ...given, run }),
    answers: createStore({ run: null, curves: null, examples: null }),
  };
  page.state.listen(null, writeAddress);
  mountRunCurves(page);
  mountExamples(page);
  mountRun(page);
  document.documentElement.dataset.ready = "yes";
}

start();
