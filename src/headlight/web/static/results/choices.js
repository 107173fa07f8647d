/** @import { Run } from "../shared/replies.js" */
/** @import { State } from "./address.js" */
import { ranked } from "./table.js";

/**
 * @param {string} value
 * @param {string[]} values
 * @param {string | undefined} usual
 */
const oneOf = (value, values, usual) => (values.includes(value) ? value : (usual ?? ""));

/**
 * The metric and methods that a link asks for; by default the first metric and the two best methods.
 * @param {Pick<State, "metric" | "first" | "second">} state
 * @param {Pick<Run, "methods" | "curved" | "table">} run
 */
export function fitted({ metric, first, second }, run) {
  const order = ranked(run, run.table[0]?.metric ?? "");
  const best = [...order.filter((name) => name !== "random"), ...run.methods];
  const one = oneOf(first, run.methods, best[0]);
  const other = best.find((name) => name !== one) ?? one;
  return {
    metric: oneOf(metric, run.curved, run.curved[0]),
    first: one,
    second: oneOf(second, run.methods, other),
  };
}
