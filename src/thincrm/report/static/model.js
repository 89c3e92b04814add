// The header and the model page: what was asked, what was learned, and whether to believe it.
function drawHeader() {
  const {diagnosis} = data;
  const name = data.time.name ? `${data.time.name} ` : '';
  const span = times.length > 1 ? `, ${name}${data.time.labels[0]} to ${data.time.labels[times.length - 1]}` : '';
  byId('facts').replaceChildren([`${data.corpus.rows}${span}`, data.corpus.columns].filter(Boolean).join(' · '), el('br'), el('small', {}, data.summary));
  const good = diagnosis.ok && !diagnosis.cautions.length;
  const stat = (value, name) => el('div', {class: 'stat'}, el('b', {}, value), el('span', {}, name));
  const [low, high] = diagnosis.number?.band ?? [];
  byId('diagnosis').replaceChildren(
    ...(diagnosis.number ? [stat(low === high ? String(low) : `${low}–${high}`, `${data.noun}s (90 %)`)] : []),
    stat(count(diagnosis.draws), diagnosis.draws === 1 ? 'draw' : 'draws'),
    stat(count(diagnosis.chains), diagnosis.chains === 1 ? 'chain' : 'chains'),
    el('div', {class: `light ${good ? 'good' : 'doubt'}`},
      el('b', {}, good ? 'The chains agree' : 'Read with care'),
      el('span', {}, diagnosis.verdict), ...diagnosis.cautions.map((caution) => el('span', {}, caution))));
}

function histogram(width) {
  const {values, counts} = data.diagnosis.number;
  const height = 150;
  const bottom = height - 24;
  const [least, most] = d3.extent(values);
  const spare = 0.5 + Math.max(0, (12 - (most - least)) / 2);
  const x = linear(least - spare, most + spare, 10, width - 10);
  const y = linear(0, d3.max(counts), bottom, 8);
  const picture = svg('svg', {class: 'histogram', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Posterior of the number of ${data.noun}s: mean ${data.diagnosis.number.mean}`});
  d3.select(picture).selectAll('rect').data(values).enter().append('rect').attr('class', 'bar-mark')
    .attr('x', (value) => x(value - 0.42)).attr('width', x(0.84) - x(0))
    .attr('y', (_, i) => y(counts[i])).attr('height', (_, i) => bottom - y(counts[i]));
  picture.append(drawnAxis(d3.axisBottom(x).tickValues(x.ticks(width / 60).filter((n) => Number.isInteger(n) && n >= 0))
    .tickFormat(d3.format('d')).tickSizeOuter(0), `0 ${bottom}`));
  return picture;
}

function tracePicture(trace, width) {
  const height = 150;
  const [left, bottom] = [66, height - 24];
  const x = d3.scaleLinear().domain(d3.extent(d3.merge(trace.chains.map((chain) => chain.sweeps)))).range([left, width - 10]);
  const y = linear(...d3.extent(d3.merge(trace.chains.map((chain) => chain.values))), bottom, 8);
  const line = d3.line().x(([sweep]) => x(sweep)).y(([, value]) => y(value));
  return svg('svg', {class: 'trace', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `${trace.title} after every sweep`},
  valueAxis(y, left, width - 10, 3, y.tickFormat(3, Math.abs(y.domain()[0]) >= 1e5 ? 's' : undefined)),
  drawnAxis(d3.axisBottom(x).ticks(5).tickSizeOuter(0), `0 ${bottom}`),
  ...trace.chains.map((chain, i) => svg('path', {class: 'curve thin', stroke: ramp()[(1 + 3 * i) % 8],
    d: line(d3.zip(chain.sweeps, chain.values))})));
}

function table(head, rows) {
  return el('div', {class: 'table-box', tabindex: 0, role: 'region', 'aria-label': head.join(', ')}, el('table', {},
    el('thead', {}, el('tr', {}, ...head.map((name) => el('th', {scope: 'col'}, name)))),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map((value, i) =>
      el(i ? 'td' : 'th', i ? {} : {scope: 'row'}, value)))))));
}

function numberInUse(width) {
  const {diagnosis} = data;
  if (!diagnosis.number) return [];
  return [el('h3', {}, `How many ${data.noun}s?`),
    el('p', {class: 'note'}, `${diagnosis.number.mean} on average, ${diagnosis.number.band.join(' to ')} with 90 % ` +
      `probability, over ${plural(diagnosis.draws, 'draw')} of ${plural(diagnosis.chains, 'chain')}; ${data.noun}s that are in use.`),
    histogram(width)];
}

// `checks(width)` are further sections of a model's own.
function drawModel(body, checks = () => []) {
  const {diagnosis} = data;
  const width = Math.max(Math.min(body.clientWidth, 640), 280);
  body.append(
    el('p', {class: `verdict ${diagnosis.ok ? 'good' : 'doubt'}`}, diagnosis.verdict),
    ...diagnosis.cautions.map((caution) => el('p', {class: 'verdict doubt'}, caution)),
    ...numberInUse(width));
  for (const trace of diagnosis.traces) {
    body.append(el('h3', {}, trace.title),
      el('p', {class: 'note'}, 'After every sweep, one line per chain; it should have no trend in the last two thirds.'),
      tracePicture(trace, width));
  }
  body.append(...checks(width), el('h3', {}, 'Do the draws agree?'),
    table(['quantity', ...diagnosis.table.columns], diagnosis.table.rows),
    ...(data.learned.length ? [el('h3', {}, 'What was learned'), table(['', 'mean', '90 % band', ''], data.learned)] : []),
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
