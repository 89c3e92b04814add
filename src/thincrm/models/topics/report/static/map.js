// Births, deaths and returns: a row per topic, the earliest born on top, stronger colour where it is open.
const SHADES = 24;

// Neighbouring times of the same shade are one mark, and all marks of a shade one path.
function rowSquares(topic, edges, y, height, relative) {
  const paths = Array.from({length: SHADES + 1}, () => '');
  const level = d3.scaleQuantize().domain([0, relative ? topic.top || 1 : 1]).range(d3.range(SHADES + 1));
  const shades = topic.open.mean.map((value) => level(relative ? value : Math.sqrt(value)));
  for (let i = 0; i < shades.length;) {
    let end = i;
    while (end + 1 < shades.length && shades[end + 1] === shades[i]) end += 1;
    const [left, right] = [Math.round(edges[i]), Math.round(edges[end + 1])];
    paths[shades[i]] += `M${left} ${y}H${right}V${y + height}H${left}Z`;
    i = end + 1;
  }
  const colour = d3.interpolateRgb(paper(), colourOf(topic));
  return paths.map((path, shade) => (path && shade
    ? svg('path', {class: 'square', d: path, fill: colour(shade / SHADES)}) : null));
}

function lifeMarks(topic, x, y, height) {
  const middle = y + height / 2;
  const marks = svg('g', {class: 'life'});
  const mark = (kind, [lower, median, upper]) => {
    if (upper > lower) marks.append(svg('line', {class: 'spread', x1: x(lower), x2: x(upper), y1: middle, y2: middle}));
    marks.append(svg('path', {class: kind, d: kind === 'birth'
      ? `M${x(median)} ${y + 1}v${height - 2}l4 ${-(height - 2) / 2}Z`
      : `M${x(median)} ${y + 1}v${height - 2}l-4 ${-(height - 2) / 2}Z`}));
  };
  if (topic.first[1] > START) mark('birth', topic.first);
  if (topic.last[1] < END) mark('death', topic.last);
  for (const [start] of topic.spells.slice(1)) {
    marks.append(svg('circle', {class: 'return', cx: x(times[start]), cy: middle, r: height / 4}));
  }
  return marks;
}

function mapPicture(width) {
  const shown = shownTopics('birth');
  const tight = width < 560;
  const [left, row, gap] = [tight ? 112 : 190, tight ? 17 : 16, 2];
  const top = 26;
  const height = top + shown.length * (row + gap) + 28;
  const x = timeScale(left, width - 12);
  const edges = [left, ...d3.pairs(times, (before, after) => x((before + after) / 2)), width - 12];
  const picture = svg('svg', {class: 'map', viewBox: `0 0 ${width} ${height}`, width, height, role: 'listbox',
    'aria-label': 'Topics by birth; stronger colour where a topic is more likely open'});
  const most = tight ? 16 : 27;
  const rows = shown.map((topic, i) => {
    const y = top + i * (row + gap);
    const name = nameOf(topic);
    const short = name.length > most ? `${name.slice(0, most - 1)}…` : name;
    const spells = topic.spells.map(([a, b]) => `${data.time.labels[a]} to ${data.time.labels[b]}`);
    const group = svg('g', {role: 'option', class: 'map-row', 'data-topic': topic.id,
      'aria-selected': String(topic.id === state.topic),
      'aria-label': `Topic ${topic.id}: ${name}; open ${spells.join(', again ')}${topic.firm ? '' : '; does not repeat'}`,
      on: {click: () => choose(topic.id), pointerleave: hideTip, pointermove: (event) => {
        const i = timeUnder(event, picture, x);
        showTip(event, [`${name} · ${data.time.labels[i]}`, ...saysAt(topic, i)]);
      }}},
    svg('rect', {class: 'hit', x: 0, y: y - gap / 2, width, height: row + gap}),
    svg('text', {class: topic.firm ? '' : 'fleeting', x: left - 8, y: y + row - 4, 'text-anchor': 'end'}, short),
    ...rowSquares(topic, edges, y, row, state.scale === 'own'), lifeMarks(topic, x, y, row));
    return group;
  });
  const bottom = top + shown.length * (row + gap) + 2;
  picture.append(periodMark(x, bottom), timeAxis(x, top - 4, 0, d3.axisTop), timeAxis(x, bottom, bottom - top), ...rows);
  return {picture, rows};
}

function drawMap(body) {
  body.append(el('p', {class: 'legend'},
    el('span', {class: 'key'}, svg('svg', {viewBox: '0 0 12 12', class: 'key-mark', 'aria-hidden': 'true'},
      svg('g', {class: 'life'}, svg('path', {class: 'birth', d: 'M3 1v10l5 -5Z'}))), 'first active'),
    el('span', {class: 'key'}, svg('svg', {viewBox: '0 0 12 12', class: 'key-mark', 'aria-hidden': 'true'},
      svg('g', {class: 'life'}, svg('path', {class: 'death', d: 'M9 1v10l-5 -5Z'}))), 'last active'),
    el('span', {class: 'key'}, svg('svg', {viewBox: '0 0 12 12', class: 'key-mark', 'aria-hidden': 'true'},
      svg('g', {class: 'life'}, svg('circle', {class: 'return', cx: 6, cy: 6, r: 4}))), 'return'),
    el('span', {class: 'key'}, svg('svg', {viewBox: '0 0 24 12', class: 'key-mark wide', 'aria-hidden': 'true'},
      svg('g', {class: 'life'}, svg('line', {class: 'spread', x1: 1, x2: 23, y1: 6, y2: 6}))), '90 % band of when')));
  const {picture, rows} = mapPicture(Math.max(body.clientWidth, 280));
  body.append(picture);
  roving(picture, rows, (row) => choose(Number(row.dataset.topic)));
}

function lifeRows(list) {
  const rows = [['topic', 'name', 'first_lower_90', 'first_median', 'first_upper_90', 'last_lower_90',
    'last_median', 'last_upper_90', 'spells', ...data.shapes, 'presence', 'firm']];
  for (const topic of list) {
    rows.push([topic.id, nameOf(topic), ...topic.first.map(timeLabel), ...topic.last.map(timeLabel),
      topic.spells.map(([a, b]) => `${data.time.labels[a]} to ${data.time.labels[b]}`).join('; '),
      ...topic.shape, topic.presence, topic.firm]);
  }
  return rows;
}
