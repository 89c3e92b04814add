// The timeline: a small picture per topic, its curve with bands of 50 and 90 %.
const CELL = {width: 220, height: 58};

function saysAt(topic, i) {
  const between = (curve) => `${percent(curve.lower[i])} to ${percent(curve.upper[i])}`;
  return [
    `open with probability ${percent(topic.open.mean[i])} (${between(topic.open)})`,
    `${percent(topic.share.mean[i])} of words (${between(topic.share)})`,
    plural(data.time.documents[i], 'document'),
  ];
}

const cellTop = (topic, measure) => (state.scale === 'own'
  ? d3.max(topic[measure].upper)
  : measure === 'open' ? 1 : d3.max(topics, (other) => d3.max(other.share.upper)));

const cellX = timeScale(0, CELL.width);

// The curve of a topic on its base line, and the chosen period behind it.
function cellMarks(topic) {
  const y = linear(0, cellTop(topic, state.measure) || 1, CELL.height - 1, 2);
  return [periodMark(cellX, CELL.height), curveMarks(topic[state.measure], colourOf(topic), cellX, y),
    svg('line', {class: 'base', x1: 0, x2: CELL.width, y1: CELL.height - 0.5, y2: CELL.height - 0.5})];
}

// Under a small picture there is room for a day, not for the hour.
const cellDay = (i) => (isDate && END - START >= DAY ? data.time.labels[i].slice(0, 10) : data.time.labels[i]);

function timelineCell(topic) {
  const picture = svg('svg', {viewBox: `0 0 ${CELL.width} ${CELL.height}`, preserveAspectRatio: 'none',
    class: 'cell-picture', 'aria-hidden': 'true', on: {pointerleave: hideTip, pointermove: (event) => {
      const i = timeUnder(event, picture, cellX);
      showTip(event, [`${nameOf(topic)} · ${data.time.labels[i]}`, ...saysAt(topic, i)]);
    }}}, ...cellMarks(topic));
  const inside = times.map((_, i) => i).filter((i) => inPeriod(times[i]));
  const peak = inside[d3.scan(inside, (a, b) => topic[state.measure].mean[b] - topic[state.measure].mean[a])];
  const most = peak === undefined ? '' : `highest ${percent(topic[state.measure].mean[peak])} in ${data.time.labels[peak]}, `;
  const cell = el('div', {role: 'option', class: 'cell', 'data-topic': topic.id,
    'aria-selected': String(topic.id === state.topic),
    'aria-label': `Topic ${topic.id}: ${nameOf(topic)}; ${topic.shapeName}, ${most}${percent(sizeOf(topic))} of words${during()}${topic.firm ? '' : '; does not repeat'}`,
    on: {click: () => choose(topic.id)}},
  el('div', {class: topic.firm ? 'cell-name' : 'cell-name fleeting'}, nameOf(topic)), picture,
  el('div', {class: isDate ? 'cell-foot dated' : 'cell-foot'}, el('span', {}, cellDay(0)), el('b', {}, state.period
    ? `share ${percent(sizeOf(topic))}` : `max ${percent(topic[state.measure].mean[peak])}`),
  el('span', {}, cellDay(times.length - 1))));
  return cell;
}

const apart = () => `These do not repeat: too few ${data.diagnosis.chains > 1 ? 'chains' : 'draws'} have them, so another run may not find them. Their bands are of the draws that do.`;

function drawTimeline(body) {
  const shown = shownTopics();
  const grid = el('div', {class: 'cells', role: 'listbox', 'aria-label': 'Topics through time'});
  const [firm, fleeting] = [shown.filter((topic) => topic.firm), shown.filter((topic) => !topic.firm)];
  const above = firm.map(timelineCell);
  const below = fleeting.map(timelineCell);
  const cells = [...above, ...below];
  grid.append(...above, ...(below.length ? [el('p', {class: 'apart', role: 'presentation'}, apart())] : []), ...below);
  body.append(grid);
  roving(grid, cells, (cell) => choose(Number(cell.dataset.topic)),
    () => getComputedStyle(grid).gridTemplateColumns.split(' ').length);
}

// For the file: the same cells, four to a row, in one picture.
function timelinePicture() {
  const shown = shownTopics();
  const columns = Math.min(4, shown.length || 1);
  const [width, height] = [CELL.width + 24, CELL.height + 44];
  const picture = svg('svg', {class: 'print', viewBox:
    `0 0 ${columns * width + 24} ${Math.ceil(shown.length / columns) * height + 24}`});
  shown.forEach((topic, i) => {
    const [left, top] = [24 + (i % columns) * width, 30 + Math.floor(i / columns) * height];
    const place = svg('g', {transform: `translate(${left} ${top})`},
      svg('text', {class: 'strong', y: -6}, nameOf(topic)),
      ...cellMarks(topic),
      svg('text', {y: CELL.height + 12}, data.time.labels[0]),
      svg('text', {x: CELL.width, y: CELL.height + 12, 'text-anchor': 'end'},
        data.time.labels[times.length - 1]));
    picture.append(place);
  });
  return picture;
}

function activationRows(list) {
  const rows = [['topic', 'name', 'time', 'open', 'open_lower_90', 'open_upper_90', 'open_lower_50',
    'open_upper_50', 'share', 'share_lower_90', 'share_upper_90', 'documents']];
  const short = (x) => Number(x.toPrecision(4));
  for (const topic of list) {
    times.forEach((_, i) => rows.push([topic.id, nameOf(topic), data.time.labels[i],
      ...['mean', 'lower', 'upper', 'low', 'high'].map((name) => short(topic.open[name][i])),
      ...['mean', 'lower', 'upper'].map((name) => short(topic.share[name][i])), data.time.documents[i]]));
  }
  return rows;
}
