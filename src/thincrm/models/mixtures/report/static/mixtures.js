// The page of a mixture: clusters through the covariate, values, a map, the partition.
const clusters = data.clusters.map((raw, id) => ({...raw, id,
  ...(raw.share_at ? {share_at: unpack(raw.share_at), open_at: unpack(raw.open_at)} : {})}));
const MEASURES = {share_at: 'Share of new rows', open_at: 'Probability of being open'};
const ENTRIES_SHOWN = 8;
const number = (x) => (x === null ? '' : x && Math.abs(x) < 1e-3 ? x.toExponential(0) : String(Number(x.toPrecision(Math.abs(x) < 100 ? 3 : 4)))).replaceAll('-', '−');
const UNSURE = 'It is not known where these rows belong: they are together in no draw. Below is what the clusters are like that they are in.';
const clusterColour = (id) => d3.piecewise(d3.interpolateRgb, ramp())(clusters.length > 1 ? id / (clusters.length - 1) : 0.5);

function clusterCard(cluster, width, measure) {
  const name = `Cluster ${cluster.id}`;
  const [share, lower, upper] = cluster.share;
  const parts = [el('p', {class: 'note'}, `${plural(cluster.rows, 'row')}; ${percent(share)} of all (${percent(lower)} to ${percent(upper)}), in ${percent(cluster.presence)} of draws`),
    ...(cluster.presence === 0 ? [el('p', {class: 'note'}, UNSURE)] : []),
    table(['', 'mean', '90 % band', 'sd'], cluster.entries.slice(0, ENTRIES_SHOWN).map(([entry, mean, lower, upper, sd, chance]) => {
      const said = chance ? percent : number;
      return [entry, said(mean), `${said(lower)} to ${said(upper)}`, number(sd)];
    })),
    ...(cluster.entries.length > ENTRIES_SHOWN ? [el('p', {class: 'note'}, `What it differs in most; ${cluster.entries.length - ENTRIES_SHOWN} more are in the table Clusters.`)] : [])];
  let picture = svg('svg', {viewBox: '0 0 1 1', width: 1, height: 1});
  if (cluster[measure]) {
    const curve = cluster[measure];
    const chart = axedCurve(curve, clusterColour(cluster.id), d3.max(curve.upper), width, `${MEASURES[measure]}, ${name}, with bands.`);
    picture = chart.picture;
    parts.push(picture, readCurve(chart, d3.scan(curve.mean, d3.descending), (i) =>
      `${percent(curve.mean[i])} (${percent(curve.lower[i])} to ${percent(curve.upper[i])}); ${plural(data.time.documents[i], 'row')}`));
  }
  parts.push(el('p', {class: 'note'}, 'Rows in its middle:'), table(['', 'at', ...data.columns], cluster.examples));
  return el('article', {class: 'feature', 'aria-label': name}, cardHead(clusterColour(cluster.id), name, picture), ...parts);
}

function clusterRows() {
  const rows = [['cluster', 'kind', 'at', 'mean', 'lower_90', 'upper_90']];
  for (const cluster of clusters) {
    for (const [entry, mean, lower, upper] of cluster.entries) rows.push([cluster.id, 'typical', entry, mean, lower, upper]);
    if (cluster.share_at) {
      times.forEach((_, i) => rows.push([cluster.id, 'share', data.time.labels[i],
        ...['mean', 'lower', 'upper'].map((name) => Number(cluster.share_at[name][i].toPrecision(4)))]));
    }
  }
  return rows;
}

function drawValues(body, shown) {
  const chosen = data.values[Number(shown.column)];
  const [width, height] = [Math.max(body.clientWidth - 20, 260), 320];
  const [left, bottom, top] = [60, height - 40, 10];
  const x = timeScale(left, width - 12);
  const y = linear(d3.min(chosen.lower), d3.max(chosen.upper), bottom, top);
  const cursor = svg('line', {class: 'cursor', y1: top, y2: bottom, x1: -9, x2: -9});
  const picture = svg('svg', {class: 'focus', viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: 'img',
    'aria-label': `New values of ${chosen.name}: median, and where 50 and 90 % of them fall. Arrow keys read values.`},
  valueAxis(y, left, width - 12, 5), curveMarks(chosen, ramp()[1], x, y), timeAxis(x, bottom), documentTicks(x, height - 2, 12), cursor);
  body.append(picture, readCurve({picture, cursor, x}, 0, (i) =>
    `half of new values of ${chosen.name} are below ${number(chosen.mean[i])}, nine of ten from ${number(chosen.lower[i])} to ${number(chosen.upper[i])}`));
}

function valueRows(shown) {
  const chosen = data.values[Number(shown.column)];
  return [['at', 'q05', 'q25', 'q50', 'q75', 'q95'], ...times.map((_, i) =>
    [data.time.labels[i], ...['lower', 'low', 'mean', 'high', 'upper'].map((name) => chosen[name][i])])];
}

function drawMap(body) {
  const [width, height] = [Math.max(Math.min(body.clientWidth - 20, 700), 260), 460];
  const x = linear(...d3.extent(data.places, ([a]) => a), 50, width - 12);
  const y = linear(...d3.extent(data.places, ([, b]) => b), height - 30, 10);
  const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': 'The likeliest cluster of a new row at every place'},
    valueAxis(y, 50, width - 12, 5), drawnAxis(d3.axisBottom(x).ticks(6), `0 ${height - 30}`));
  for (const [a, b, k, share] of data.places) {
    const dot = svg('circle', {cx: x(a), cy: y(b), r: 4, fill: clusterColour(k), 'fill-opacity': 0.2 + 0.8 * share});
    dot.addEventListener('pointermove', (event) => showTip(event, [`Cluster ${k}`, `share ${percent(share)}`, `${data.covariates.join(', ')}: ${number(a)}, ${number(b)}`]));
    dot.addEventListener('pointerleave', hideTip);
    picture.append(dot);
  }
  body.append(picture);
}

function drawPartition(body) {
  const {radius, clusters: [here, fewest, most], rows, labels, similar} = data.partition;
  body.append(el('p', {}, `The partition has ${plural(here, 'cluster')}. 95 % of the draws are within ${number(radius)} nats of it (variation of information); at the edge are partitions of ${fewest} to ${most} clusters.`));
  const size = Math.max(Math.min(body.clientWidth - 20, 520), 240) / rows.length;
  const shade = d3.scaleLinear().domain([0, 1]).range([paper(), ramp()[1]]);
  const picture = svg('svg', {viewBox: `0 0 ${size * rows.length} ${size * rows.length}`, width: size * rows.length, height: size * rows.length, role: 'img',
    'aria-label': `Which of ${rows.length} rows are together, sorted by cluster: dark squares along the diagonal are sure clusters`});
  similar.forEach((line, i) => line.forEach((chance, j) => {
    const cell = svg('rect', {x: j * size, y: i * size, width: size, height: size, fill: shade(chance)});
    cell.addEventListener('pointermove', (event) => showTip(event, [`rows ${rows[i]} and ${rows[j]} (clusters ${labels[i]} and ${labels[j]})`, `together with probability ${percent(chance)}`]));
    cell.addEventListener('pointerleave', hideTip);
    picture.append(cell);
  }));
  body.append(picture);
}

const chosenTable = (shown) => data.tables[Number(shown.table)];

function drawTable(body, shown) {
  const chosen = chosenTable(shown);
  if (chosen.n_rows > chosen.rows.length) {
    body.append(el('p', {class: 'note'}, `The first ${count(chosen.rows.length)} of ${count(chosen.n_rows)} rows; model.to_csv(folder) writes all.`));
  }
  body.append(table(chosen.columns, chosen.rows));
}

const named = (items) => Object.fromEntries(items.map(({name}, i) => [i, name]));
runPage({
  clusters: {title: 'Clusters', note: 'What is typical of each cluster, in the columns’ units, and how its share changes.', rows: clusterRows,
    ...(clusters[0].share_at ? {choices: {measure: ['Curve', MEASURES]}} : {}),
    draw: (body, shown) => cardGrid(body, clusters, (cluster, width) => clusterCard(cluster, width, shown.measure))},
  ...(data.values.length ? {values: {title: 'Values', note: 'Where new values fall, given the covariate: half of them in the dark band, nine of ten in the light one.',
    rows: valueRows, draw: drawValues, choices: {column: ['Column', named(data.values)]}}} : {}),
  ...(data.places.length ? {map: {title: 'Map', note: `The likeliest cluster of a new row at every place; the paler, the less sure. Across: ${data.covariates[0]}; up: ${data.covariates[1]}.`,
    rows: () => [[...data.covariates, 'cluster', 'share'], ...data.places], draw: drawMap}} : {}),
  partition: {title: 'Partition', note: 'How sure the clusters are.', draw: drawPartition,
    rows: () => [['row', 'cluster', ...data.partition.rows], ...data.partition.similar.map((line, i) => [data.partition.rows[i], data.partition.labels[i], ...line])]},
  tables: {title: 'Tables', note: 'What the model tells in numbers.', rows: (shown) => [chosenTable(shown).columns, ...chosenTable(shown).rows],
    draw: drawTable, choices: {table: ['Table', named(data.tables)]}},
  model: MODEL_VIEW,
});
