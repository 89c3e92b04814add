// The plain page of any model: where each of its atoms is open, and its tables.
const atoms = data.atoms.map((raw) => ({...raw, open: unpack(raw.open)}));
const titled = data.noun[0].toUpperCase() + data.noun.slice(1);

function atomCard(atom, width) {
  const {open} = atom;
  const name = `${titled} ${atom.name}`;
  const peak = d3.scan(open.mean, d3.descending);
  const colour = colourAt(times[peak]);
  const chart = axedCurve(open, colour, d3.max(open.upper), width, `Probability that ${name} is open, with bands.`);
  const readout = readCurve(chart, peak, (i) => `open with probability ${percent(open.mean[i])} ` +
    `(${percent(open.lower[i])} to ${percent(open.upper[i])}); ${plural(data.time.documents[i], data.unit)}`);
  return el('article', {class: 'feature', 'aria-label': name}, cardHead(colour, name, chart.picture), chart.picture, readout);
}

function drawAtoms(body) {
  if (data.nothing) body.append(el('p', {class: 'empty'}, data.nothing));
  else if (data.covariates.length > 1) {
    body.append(el('p', {class: 'empty'}, `The curves vary along ${data.covariates.join(', ')}: see the table Activation.`));
  } else cardGrid(body, atoms, atomCard);
}

function atomRows() {
  const rows = [[data.noun, data.time.name || 't', 'mean', 'lower_90', 'upper_90']];
  for (const atom of atoms) {
    times.forEach((_, i) => rows.push([atom.name, data.time.labels[i],
      ...['mean', 'lower', 'upper'].map((name) => Number(atom.open[name][i].toPrecision(4)))]));
  }
  return rows;
}

const chosenTable = (shown) => data.tables[Number(shown.table)];

function drawTable(body, shown) {
  const chosen = chosenTable(shown);
  if (chosen.n_rows > chosen.rows.length) {
    body.append(el('p', {class: 'note'}, `The first ${count(chosen.rows.length)} of ${count(chosen.n_rows)} rows; model.to_csv(folder) writes all.`));
  }
  body.append(table(chosen.columns, chosen.rows));
}

runPage({
  curves: {title: `${titled}s`, note: `Where each ${data.noun} is open, with bands of 50 and 90 %.`, rows: atomRows, draw: drawAtoms},
  ...(data.tables.length ? {tables: {title: 'Tables', note: 'What the model tells in numbers.',
    rows: (shown) => [chosenTable(shown).columns, ...chosenTable(shown).rows], draw: drawTable,
    choices: {table: ['Table', Object.fromEntries(data.tables.map(({name}, i) => [i, name]))]}}} : {}),
  model: MODEL_VIEW,
});
