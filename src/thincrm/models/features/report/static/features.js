// The page of a feature model: what each feature adds to the columns, and where it is used.
const features = data.features.map((raw, id) => ({...raw, id, used: unpack(raw.used), open: unpack(raw.open)}));
const MEASURES = {used: 'Probability of being used', open: 'Probability of being open'};
const COLUMNS_SHOWN = 12;
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

function featureCard(feature, width, measure) {
  const curve = feature[measure];
  const chart = axedCurve(curve, colourFor(feature), d3.max(curve.upper), width,
    `${MEASURES[measure]} of feature ${feature.id} with bands.`);
  const readout = readCurve(chart, d3.scan(curve.mean, d3.descending), (i) =>
    `used with probability ${percent(feature.used.mean[i])} (${percent(feature.used.lower[i])} to ` +
    `${percent(feature.used.upper[i])}); ${plural(data.time.documents[i], 'row')}`);
  const [share, lower, upper] = feature.share;
  return el('article', {class: 'feature', 'aria-label': `Feature ${feature.id}`},
    cardHead(colourFor(feature), `Feature ${feature.id}`, chart.picture),
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

runPage({
  features: {title: 'Features', note: 'What each feature adds to the columns, and where along the covariate rows use it.',
    rows: featureRows, choices: {measure: ['Curve', MEASURES]}, draw: (body, shown) => {
      if (!features.length) body.append(el('p', {class: 'empty'}, data.nothing));
      else cardGrid(body, features, (feature, width) => featureCard(feature, width, shown.measure));
    }},
  model: MODEL_VIEW,
});
