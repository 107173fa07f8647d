import { byId, element, fill } from "/static/dom.js";
import { difference, heatmap } from "/static/heatmap.js";
import { askKindly } from "/static/notices.js";
import { capital, number, quoted } from "/static/numbers.js";
import { comparing } from "/static/palette.js";
import { addressOf } from "/static/runaddress.js";

const LIMIT = 20;

const byName = (about) => Object.fromEntries(about.methods.map((method) => [method.name, method]));

export function mountExamples(page) {
  const methods = byName(page.about);

  function map(name, pieces, label) {
    const isSigned = methods[name]?.signed ?? pieces.some((piece) => piece.score < 0);
    const settings = {
      label: `Heat map of ${name}`,
      isSigned,
      meaning: [`for ${quoted(label)}`, `against ${quoted(label)}`],
      palette: page.about.palette,
    };
    return element(
      "div",
      {},
      element("h4", {}, name),
      heatmap(pieces, settings, { "data-method": name }),
    );
  }

  function differenceMap(first, second, example) {
    const settings = {
      label: `Difference of ${first} and ${second}`,
      isSigned: true,
      meaning: [`${first} gives more`, `${second} gives more`],
      palette: comparing(page.about.palette),
    };
    return element(
      "div",
      {},
      element("h4", {}, `${first} − ${second}`),
      heatmap(difference(example.first, example.second), settings),
    );
  }

  function card(example, { first, second, difference: isAsked }) {
    const label = example.label ?? example.predicted;
    const isWrong = example.gold !== null && example.gold !== example.predicted;
    const said = `the model says ${example.predicted}${example.gold === null ? "" : isWrong ? `, wrongly: it is ${example.gold}` : ", rightly"}`;
    return element(
      "article",
      { class: "example" },
      element("h3", {}, `Example ${example.number}`),
      element(
        "p",
        { class: "soft", dir: "auto" },
        `Disagreement ${number(example.disagreement)}; ${said}.`,
      ),
      element(
        "div",
        { class: "two" },
        map(first, example.first, label),
        map(second, example.second, label),
        isAsked ? differenceMap(first, second, example) : null,
      ),
    );
  }

  function show(answer) {
    const state = page.state.get();
    const last = Math.min(state.offset + answer.examples.length, answer.total);
    fill(
      byId("examples-list"),
      answer.examples.map((example) => card(example, state)),
    );
    fill(
      byId("range"),
      answer.total ? `${state.offset + 1} to ${last} of ${answer.total}` : "No examples.",
    );
    byId("before").disabled = state.offset === 0;
    byId("after").disabled = last >= answer.total;
  }

  async function refresh() {
    const { run, first, second, offset } = page.state.get();
    if (!page.answers.get().run || !first || !second) return;
    const query = new URLSearchParams({ first, second, offset, limit: LIMIT });
    const answer = await askKindly(addressOf(run, `/examples?${query}`), undefined, "examples");
    if (answer) page.answers.change({ examples: answer });
  }

  const { positive, negative, unsigned } = page.about.palette.names;
  fill(
    byId("colour-words"),
    `${capital(positive)} speaks for the answer, ${negative} dotted against it; ${unsigned} counted.`,
  );
  for (const id of ["first", "second"])
    byId(id).addEventListener("change", (event) =>
      page.state.change({ [id]: event.target.value, offset: 0 }),
    );
  byId("difference").checked = page.state.get().difference;
  byId("difference").addEventListener("change", (event) =>
    page.state.change({ difference: event.target.checked }),
  );
  byId("before").addEventListener("click", () =>
    page.state.change({ offset: Math.max(0, page.state.get().offset - LIMIT) }),
  );
  byId("after").addEventListener("click", () =>
    page.state.change({ offset: page.state.get().offset + LIMIT }),
  );
  page.answers.listen(["examples"], ({ examples }) => show(examples));
  page.state.listen(
    ["difference"],
    () => page.answers.get().examples && show(page.answers.get().examples),
  );
  page.state.listen(["first", "second", "offset"], refresh);
  page.answers.listen(["run"], refresh);
}
