// The header and the model page: what was asked, what was learned, and whether to believe it.
function drawHeader() {
  const {diagnosis} = data;
  const name = data.time.name ? `${data.time.name} ` : '';
  const span = times.length > 1 ? `, ${name}${data.time.labels[0]} to ${data.time.labels[times.length - 1]}` : '';
  byId('facts').textContent = `${data.corpus.rows}${span} · ${data.corpus.columns}`;
  const [low, high] = diagnosis.number.band;
  const good = diagnosis.ok && !diagnosis.cautions.length;
  const stat = (value, name) => el('div', {class: 'stat'}, el('b', {}, value), el('span', {}, name));
  byId('diagnosis').replaceChildren(
    stat(low === high ? String(low) : `${low}–${high}`, `${data.noun}s (90 %)`),
    stat(count(diagnosis.draws), diagnosis.draws === 1 ? 'draw' : 'draws'),
    stat(count(diagnosis.chains), diagnosis.chains === 1 ? 'chain' : 'chains'),
    el('div', {class: `light ${good ? 'good' : 'doubt'}`},
      el('b', {}, good ? 'The draws can be trusted' : 'Read with care'),
      el('span', {}, diagnosis.verdict), ...diagnosis.cautions.map((caution) => el('span', {}, caution))));
}

const TRACE_NAMES = {n_topics: 'Number of topics', n_features: 'Number of features', log_joint: 'Log joint density', log_likelihood: 'Log likelihood'};

function histogram(width) {
  const {values, counts} = data.diagnosis.number;
  const height = 150;
  const bottom = height - 24;
  const spare = Math.max(0, (12 - (maximum(values) - minimum(values))) / 2);
  const [from, to] = [minimum(values) - 0.5 - spare, maximum(values) + 0.5 + spare];
  const x = scale(from, to, 10, width - 10);
  const y = scale(0, maximum(counts), bottom, 8);
  const picture = svg('svg', {class: 'histogram', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Posterior of the number of ${data.noun}s: mean ${data.diagnosis.number.mean}`});
  values.forEach((value, i) => picture.append(svg('rect', {class: 'bar-mark', x: round(x(value - 0.42)),
    width: round(x(value + 0.42) - x(value - 0.42)), y: round(y(counts[i])), height: round(bottom - y(counts[i]))})));
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'}, svg('line', {x1: 10, x2: width - 10, y1: bottom, y2: bottom}));
  for (const tick of numberTicks(from, to, width / 60).filter((t) => Number.isInteger(t.at))) {
    axis.append(svg('text', {x: x(tick.at), y: bottom + 16, 'text-anchor': 'middle'}, tick.label));
  }
  picture.append(axis);
  return picture;
}

function tracePicture(trace, width) {
  const height = 150;
  const [left, bottom] = [66, height - 24];
  const sweeps = trace.chains.flatMap((chain) => chain.sweeps);
  const values = trace.chains.flatMap((chain) => chain.values);
  const x = scale(minimum(sweeps), maximum(sweeps), left, width - 10);
  const y = scale(minimum(values), maximum(values), bottom, 8);
  const picture = svg('svg', {class: 'trace', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `${TRACE_NAMES[trace.name] ?? trace.name} after every sweep`});
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'});
  for (const tick of numberTicks(minimum(values), maximum(values), 3)) {
    axis.append(svg('line', {class: 'grid', x1: left, x2: width - 10, y1: y(tick.at), y2: y(tick.at)}),
      svg('text', {x: left - 6, y: y(tick.at) + 4, 'text-anchor': 'end'}, tick.label));
  }
  for (const tick of numberTicks(minimum(sweeps), maximum(sweeps), 5)) {
    axis.append(svg('text', {x: x(tick.at), y: bottom + 16, 'text-anchor': 'middle'}, tick.label));
  }
  picture.append(axis, ...trace.chains.map((chain, i) => svg('path', {class: 'curve thin', 'stroke': RAMPS[darkNow() ? 'dark' : 'light'][(1 + 3 * i) % 8],
    d: linePath(chain.sweeps.map((s) => x(s)), chain.values.map((v) => y(v)))})));
  return picture;
}

function table(head, rows) {
  return el('div', {class: 'table-box', tabindex: 0, role: 'region', 'aria-label': head.join(', ')}, el('table', {},
    el('thead', {}, el('tr', {}, ...head.map((name) => el('th', {scope: 'col'}, name)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((value, i) =>
      el(i ? 'td' : 'th', i ? {} : {scope: 'row'}, value)))))));
}

function drawModel(body) {
  const {diagnosis} = data;
  const width = Math.max(Math.min(body.clientWidth, 640), 280);
  body.append(
    el('p', {class: `verdict ${diagnosis.ok ? 'good' : 'doubt'}`}, diagnosis.verdict),
    ...diagnosis.cautions.map((caution) => el('p', {class: 'verdict doubt'}, caution)),
    el('h3', {}, `How many ${data.noun}s?`),
    el('p', {class: 'note'}, `${diagnosis.number.mean} on average, ${diagnosis.number.band.join(' to ')} with 90 % ` +
      `probability, over ${plural(diagnosis.draws, 'draw')} of ${plural(diagnosis.chains, 'chain')}; ${data.noun}s that are in use.`),
    histogram(width));
  for (const trace of diagnosis.traces) {
    body.append(el('h3', {}, TRACE_NAMES[trace.name] ?? trace.name),
      el('p', {class: 'note'}, 'After every sweep, one line per chain; it should have no trend in the last two thirds.'),
      tracePicture(trace, width));
  }
  body.append(el('h3', {}, 'Do the draws agree?'),
    table(['quantity', ...diagnosis.table.columns], diagnosis.table.rows),
    el('h3', {}, 'What was learned'), table(['', 'mean', '90 % band', ''], data.learned),
    el('h3', {}, 'What was chosen'), table(['', '', ''], data.settings),
    el('h3', {}, 'How to read this page'),
    ...data.reading.map((text) => el('p', {}, text)));
}

function modelRows() {
  return [['kind', 'name', 'value', 'band', 'meaning'],
    ['verdict', '', data.diagnosis.verdict, '', ''],
    ...data.learned.map(([name, mean, band, meaning]) => ['learned', name, mean, band, meaning]),
    ...data.settings.map(([name, value, meaning]) => ['chosen', name, value, '', meaning])];
}
