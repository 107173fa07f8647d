import { chart } from "/static/chart.js";
import { byId } from "/static/dom.js";
import { askKindly } from "/static/notices.js";
import { addressOf } from "/static/runaddress.js";
import { ranked } from "/static/runtable.js";

const MOST_CURVES = 6;

export function mountRunCurves(page) {
  async function refresh() {
    const { run, metric } = page.state.get();
    byId("curves-section").hidden = !metric;
    if (!run || !metric) return;
    const answer = await askKindly(
      addressOf(run, `/curves?metric=${encodeURIComponent(metric)}`),
      undefined,
      "curves",
    );
    if (!answer) return;
    page.answers.change({ curves: answer });
  }

  function show() {
    const { run, curves: answer } = page.answers.get();
    const { metric, all } = page.state.get();
    if (!answer || !run) return;
    const best = ranked(run, metric)
      .filter((name) => name !== "random")
      .slice(0, MOST_CURVES);
    const isShown = ({ method }) => all || method === "random" || best.includes(method);
    const series = answer.curves.filter(isShown).map(({ method, levels, means }) => ({
      name: method,
      levels,
      values: means,
      isFloor: method === "random",
    }));
    chart(byId("curves"), series, {
      x: answer.x,
      y: answer.y,
      title: `${metric}: ${answer.y} against ${answer.x}`,
    });
  }

  byId("metric").addEventListener("change", (event) =>
    page.state.change({ metric: event.target.value }),
  );
  byId("all-curves").checked = page.state.get().all;
  byId("all-curves").addEventListener("change", (event) =>
    page.state.change({ all: event.target.checked }),
  );
  page.state.listen(["all"], show);
  page.answers.listen(["curves"], show);
  page.state.listen(["metric"], refresh);
  page.answers.listen(["run"], ({ run }) => run && refresh());
}
