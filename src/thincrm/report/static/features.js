// The page of a feature model: what each feature adds to the columns, and where it is used.
const features = data.features.map((raw, id) => ({...raw, id, used: unpack(raw.used), open: unpack(raw.open)}));
const FEATURE_VIEWS = {
  features: ['Features', 'What each feature adds to the columns, and where along the covariate rows use it.'],
  model: ['Model', 'What was asked, what was learned, and whether to believe it.'],
};
const MEASURES = {used: 'Probability of being used', open: 'Probability of being open'};
const COLUMNS_SHOWN = 12;
let shown = {view: 'features', measure: 'used', theme: ''};

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const pick = (key, allowed, other) => (allowed.includes(given.get(key)) ? given.get(key) : other);
  shown = {view: pick('view', Object.keys(FEATURE_VIEWS), 'features'),
    measure: pick('measure', Object.keys(MEASURES), 'used'), theme: pick('theme', ['light', 'dark'], '')};
}

function show(patch) {
  shown = {...shown, ...patch};
  const out = new URLSearchParams(Object.entries(shown).filter(([, value]) => value));
  history.replaceState(null, '', `${location.pathname}${location.search}#${out}`);
  drawPage();
}

const number = (x) => String(Number(x.toPrecision(3))).replace('-', '−');
const colourFor = (feature) => colourAt(times[d3.scan(feature.used.mean, d3.descending)]);

function entryBars(feature, width) {
  const order = data.columns.map((_, p) => p)
    .sort((a, b) => Math.abs(feature.entries[b][0]) - Math.abs(feature.entries[a][0])).slice(0, COLUMNS_SHOWN);
  const [row, left] = [20, Math.min(150, width * 0.42)];
  const height = order.length * row + 22;
  const ends = order.flatMap((p) => [feature.entries[p][1], feature.entries[p][2], 0]);
  const x = linear(...d3.extent(ends), left + 6, width - 8);
  const picture = svg('svg', {class: 'entries', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Feature ${feature.id} adds ${order.slice(0, 5).map((p) =>
      `${number(feature.entries[p][0])} to ${data.columns[p]}`).join(', ')}`});
  picture.append(drawnAxis(d3.axisBottom(x).ticks(4).tickSize(18 - height), `0 ${height - 18}`, 'grid bare'),
    svg('line', {class: 'base', x1: x(0), x2: x(0), y1: 0, y2: height - 18}));
  order.forEach((p, i) => {
    const [mean, lower, upper] = feature.entries[p];
    const y = i * row;
    const name = data.columns[p].length > 20 ? `${data.columns[p].slice(0, 19)}…` : data.columns[p];
    const group = svg('g', {}, svg('text', {x: left, y: y + 14, 'text-anchor': 'end'}, name),
      svg('rect', {x: Math.min(x(0), x(mean)), width: Math.abs(x(mean) - x(0)), y: y + 4,
        height: row - 8, fill: colourFor(feature), 'fill-opacity': 0.75}),
      svg('line', {class: 'whisker', x1: x(lower), x2: x(upper), y1: y + row / 2, y2: y + row / 2}));
    group.addEventListener('pointermove', (event) => showTip(event, [data.columns[p],
      `adds ${number(mean)} standard deviations (90 %: ${number(lower)} to ${number(upper)})`,
      `${number(feature.own[p])} in the column's units`]));
    group.addEventListener('pointerleave', hideTip);
    picture.append(group);
  });
  return picture;
}

// Numbered columns that fill a square are taken for pixels.
function entryPixels(feature, width) {
  const {side} = data;
  const size = Math.min(width, 260) / side;
  const most = d3.max(feature.entries, ([mean]) => Math.abs(mean)) || 1;
  const colour = d3.scaleLinear().domain([-most, 0, most]).range([ramp()[7], paper(), ramp()[1]]);
  const picture = svg('svg', {class: 'entries', viewBox: `0 0 ${size * side} ${size * side}`, width: size * side,
    height: size * side, role: 'img', 'aria-label': `Feature ${feature.id} as a picture of ${side} by ${side}`});
  feature.entries.forEach(([mean], p) => picture.append(svg('rect', {class: 'square', x: (p % side) * size,
    y: Math.floor(p / side) * size, width: size, height: size,
    fill: colour(mean)})));
  return picture;
}

function featureCard(feature, width) {
  const curve = feature[shown.measure];
  const chart = axedCurve(curve, colourFor(feature), d3.max(curve.upper), width,
    `${MEASURES[shown.measure]} of feature ${feature.id} with bands.`);
  const readout = readCurve(chart, d3.scan(curve.mean, d3.descending), (i) =>
    `used with probability ${percent(feature.used.mean[i])} (${percent(feature.used.lower[i])} to ` +
    `${percent(feature.used.upper[i])}); ${plural(data.time.documents[i], 'row')}`);
  const [share, lower, upper] = feature.share;
  return el('article', {class: 'feature', 'aria-label': `Feature ${feature.id}`},
    el('div', {class: 'card-head'}, svg('svg', {viewBox: '0 0 10 10', class: 'dot', 'aria-hidden': 'true'},
      svg('circle', {cx: 5, cy: 5, r: 5, fill: colourFor(feature)})), el('h3', {}, `Feature ${feature.id}`),
    el('span', {class: 'spacer'}),
    toolButton('SVG', `Download the curve of feature ${feature.id} as SVG`, () => downloadPicture(`feature-${feature.id}.svg`, chart.picture))),
    el('p', {class: 'note'}, `${percent(share)} of all uses (${percent(lower)} to ${percent(upper)}), in ${percent(feature.presence)} of draws`),
    data.side ? entryPixels(feature, width) : entryBars(feature, width), chart.picture, readout);
}

function featureRows() {
  const rows = [['feature', 'kind', 'at', 'mean', 'lower_90', 'upper_90']];
  for (const feature of features) {
    feature.entries.forEach((entry, p) => rows.push([feature.id, 'adds', data.columns[p], ...entry]));
    times.forEach((_, i) => rows.push([feature.id, 'used', data.time.labels[i],
      ...['mean', 'lower', 'upper'].map((name) => Number(feature.used[name][i].toPrecision(4)))]));
  }
  return rows;
}

function settingRows() {
  return [['kind', 'name', 'value', 'meaning'], ['verdict', '', data.diagnosis.verdict, ''],
    ...data.settings.map(([name, value, meaning]) => ['chosen', name, value, meaning])];
}

function drawPage() {
  hideTip();
  useTheme(shown.theme);
  const held = document.activeElement?.id;
  const tabs = Object.entries(FEATURE_VIEWS).map(([view, [name]]) => el('button', {type: 'button', role: 'tab', id: `tab-${view}`,
    'aria-selected': String(view === shown.view), 'aria-controls': 'view', on: {click: () => show({view})}}, name));
  const list = el('div', {class: 'tab-list'}, ...tabs);
  byId('views').replaceChildren(list);
  roving(list, tabs, (tab) => tab.click());
  const select = el('select', {id: 'choice-measure', 'aria-label': 'Curve', on: {change: (event) => show({measure: event.target.value})}},
    ...Object.entries(MEASURES).map(([value, text]) => el('option', {value, selected: value === shown.measure}, text)));
  byId('choices').replaceChildren(...(shown.view === 'features' ? [el('span', {class: 'choice'}, select)] : []));
  const [title, note] = FEATURE_VIEWS[shown.view];
  byId('view-title').textContent = title;
  byId('view-note').textContent = note;
  const rows = shown.view === 'features' ? featureRows : settingRows;
  byId('view-tools').replaceChildren(toolButton('CSV', 'Download the numbers of this view as CSV',
    () => download(`${shown.view}.csv`, 'text/csv', csv(rows()))));
  const body = byId('view-body');
  body.replaceChildren();
  if (shown.view === 'model') drawModel(body);
  else if (!features.length) body.append(el('p', {class: 'empty'}, 'No feature is in use.'));
  else {
    const columns = Math.max(1, Math.floor(body.clientWidth / 380));
    const width = Math.max((body.clientWidth - (columns - 1) * 16) / columns - 34, 240);
    body.append(el('div', {class: 'feature-grid'}, ...features.map((feature) => featureCard(feature, width))));
  }
  if (held) byId(held)?.focus({preventScroll: true});
}

readAddress();
byId('theme').addEventListener('click', () => show({theme: darkNow() ? 'light' : 'dark'}));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawPage);
addEventListener('hashchange', () => { readAddress(); drawPage(); });
let drawnWidth = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === drawnWidth) return;
  drawnWidth = innerWidth;
  drawPage();
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('main').focus();
});
byId('foot').replaceChildren(data.settings[data.settings.length - 1][1], ' · one file, no network');
drawHeader();
drawPage();
