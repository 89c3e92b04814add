// A topic's words by period: counts of the tokens that the draws give to it.
const ROWS = 6;
const WORDS_A_ROW = 6;

// The chosen periods, in at most six rows.
function periodRows() {
  const chosen = chosenPeriods();
  const length = Math.ceil(chosen.length / ROWS);
  return d3.range(0, chosen.length, length).map((i) => [chosen[i], chosen[Math.min(i + length, chosen.length) - 1]]);
}

function countsIn(topic, [from, to]) {
  return topic.codes.map((code, i) => [code, d3.sum(topic.counts[i].slice(from, to + 1))])
    .filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
}

function wordPeriods(topic) {
  const rows = periodRows().map((range) => {
    const tokens = d3.sum(topic.through.slice(range[0], range[1] + 1));
    const words = countsIn(topic, range).slice(0, WORDS_A_ROW);
    return el('tr', {}, el('th', {scope: 'row'}, el('button', {type: 'button', class: 'link', 'aria-label': `Documents of this topic, ${periodName(...range)}`,
      on: {click: () => {
        choosePeriod(range);
        change({view: 'documents'});
        byId('view').focus();
      }}}, periodName(...range)), el('small', {}, plural(tokens, 'word'))),
    el('td', {}, ...(words.length ? words.flatMap(([code, n]) => [el('span', {class: 'counted'}, wordOf(code), ' ', el('small', {}, count(n))), ' '])
      : [el('small', {}, 'none')])));
  });
  return el('div', {class: 'table-box', id: 'word-periods'}, el('table', {},
    el('caption', {class: 'note small'}, 'Counts: tokens that belong to the topic, mean over draws. A period opens its documents.'),
    el('tbody', {}, ...rows)));
}

function wordPeriodRows(topic) {
  const rows = [['topic', 'name', 'word', 'from', 'to', 'count']];
  topic.codes.forEach((code, i) => chosenPeriods().forEach((b) => rows.push([topic.id, nameOf(topic), wordOf(code),
    periodStart(b), periodEnd(b), topic.counts[i][b]])));
  return rows;
}
