/** @import { MeanCurves, Run } from "../shared/replies.js" */
/** @import { Series } from "../shared/chart.js" */
/** @import { Page } from "./page.js" */
import { chart } from "../shared/chart.js";
import { byId, inputById, selectById } from "../shared/dom.js";
import { askKindly } from "../shared/notices.js";
import { routeOf } from "./address.js";
import { ranked } from "./table.js";

const MOST_CURVES = 6;
const FLOOR = "random";

/**
 * The lines of the best methods (or of all), and of `random`.
 * @param {MeanCurves} answer
 * @param {Pick<Run, "methods" | "table">} run
 * @param {boolean} isAll
 * @returns {Series[]}
 */
export function seriesOf(answer, run, isAll) {
  const best = ranked(run, answer.metric)
    .filter((name) => name !== FLOOR)
    .slice(0, MOST_CURVES);
  return answer.curves
    .filter(({ method }) => isAll || method === FLOOR || best.includes(method))
    .map(({ method, levels, means }) => ({
      name: method,
      levels,
      values: means,
      isFloor: method === FLOOR,
    }));
}

/**
 * Set up the mean curves of a metric.
 * @param {Page} page
 */
export function mountCurves(page) {
  const chooser = selectById("metric");
  const box = inputById("all-curves");

  async function refresh() {
    const { run, metric } = page.state.get();
    byId("curves-section").hidden = !metric;
    if (!run || !metric) return;
    const path = routeOf(run, `/curves?metric=${encodeURIComponent(metric)}`);
    /** @type {MeanCurves | null | undefined} */
    const curves = await askKindly(path, undefined, "curves");
    if (curves) page.answers.change({ curves });
  }

  function show() {
    const { run, curves } = page.answers.get();
    if (!curves || !run) return;
    const { metric, x, y } = curves;
    const names = { x, y, title: `${metric}: ${y} by ${x}` };
    chart(byId("curves"), seriesOf(curves, run, page.state.get().all), names);
  }

  chooser.addEventListener("change", () => page.state.change({ metric: chooser.value }));
  box.checked = page.state.get().all;
  box.addEventListener("change", () => page.state.change({ all: box.checked }));
  page.state.listen(["all"], show);
  page.answers.listen(["curves"], show);
  page.state.listen(["metric"], refresh);
  page.answers.listen(["run"], ({ run }) => {
    if (run) refresh();
  });
}
