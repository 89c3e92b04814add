// Share of words: all topics stacked, so that they sum to one at every time, or as a stream, the
// latest outside and with as little wiggling as can be (Byron and Wattenberg 2008).
const LAYERS = {
  stack: (stack) => stack.order(d3.stackOrderNone).offset(d3.stackOffsetNone),
  stream: (stack) => stack.order(d3.stackOrderInsideOut).offset(d3.stackOffsetWiggle),
};

// All topics' shares at each time: more than one where those of the last chain overlap with those of most chains.
const wholes = times.map((_, i) => Math.max(d3.sum(topics, (topic) => topic.share.mean[i]), 1));

// The layers of D3's stack; of stacked shares, what filters leave out is the last.
function stacked(shown) {
  const rows = across.map((t, i) => ({t, shares: shown.map((topic) => valueAt(topic.share.mean, i) / valueAt(wholes, i))}));
  if (state.layers === 'stack') rows.forEach((row) => row.shares.push(Math.max(1 - d3.sum(row.shares), 0)));
  return LAYERS[state.layers](d3.stack().keys(d3.range(rows[0].shares.length)).value((row, key) => row.shares[key]))(rows);
}

// The picture of layers: topics, or groups of them, each drawn by `drawLayer`.
function layeredPicture(width, shown, drawLayer, about) {
  const height = clamp(width * 0.62, 300, 560);
  const isStack = state.layers === 'stack';
  const [left, bottom, top] = [isStack ? 42 : 10, height - 28, 8];
  const x = timeScale(left, width - 12, shownSpan());
  const series = stacked(shown);
  const y = linear(d3.min(series, (layer) => d3.min(layer, ([low]) => low)), d3.max(series, (layer) => d3.max(layer, ([, high]) => high)), bottom, top);
  const area = d3.area().x((point) => x(point.data.t)).y0((point) => y(point[0])).y1((point) => y(point[1]));
  const picture = svg('svg', {class: 'stream', viewBox: `0 0 ${width} ${height}`, width, height, ...about});
  const layers = shown.map((topic, place) => drawLayer(topic, area(series[place]), picture, x));
  const frame = svg('clipPath', {id: 'stream-frame'}, svg('rect', {x: left, y: 0, width: width - 12 - left, height: bottom}));
  picture.append(frame, svg('g', {'clip-path': 'url(#stream-frame)'},
    isStack ? svg('path', {class: 'others', d: area(series[shown.length])}) : null, ...layers, ...layerNames(shown, series, x, y)),
  timeAxis(x, bottom));
  if (isStack) picture.append(valueAxis(y, left, left, 4, d3.format('.0%')));
  return {picture, layers};
}

function streamLayer(topic, path, picture, x) {
  const peak = d3.scan(topic.share.mean, d3.descending);
  const layer = svg('path', {role: 'option', class: 'layer', 'data-topic': topic.id, fill: colourOf(topic), d: path,
    'aria-selected': String(topic.id === state.topic),
    'aria-label': `Topic ${topic.id}: ${nameOf(topic)}; at most ${percent(topic.share.mean[peak])} of words, in ${data.time.labels[peak]}`,
    on: {click: () => choose(topic.id), pointerleave: hideTip, pointermove: (event) => {
      const i = timeUnder(event, picture, x);
      showTip(event, [`${nameOf(topic)} · ${data.time.labels[i]}`, ...saysAt(topic, i)]);
    }}});
  return layer;
}

const layerName = (layer) => (layer.topics ? layer.name : nameOf(layer));

// Names where layers are thickest, the thickest first; one that would lie on another is left out.
function layerNames(shown, series, x, y) {
  const [from, to] = x.range();
  const labels = shown.map((topic, place) => {
    const inside = series[place].filter((point) => x(point.data.t) >= from && x(point.data.t) <= to);
    const widest = inside[d3.scan(inside, (a, b) => (b[1] - b[0]) - (a[1] - a[0]))];
    const word = layerName(topic).split(',')[0];
    const room = word.length * 3.9 + 4;
    return widest && {word, room, thick: y(widest[0]) - y(widest[1]), x: clamp(x(widest.data.t), from + room, to - room),
      y: y((widest[0] + widest[1]) / 2)};
  }).filter((label) => label && label.thick > 15).sort((a, b) => b.thick - a.thick);
  const placed = [];
  for (const label of labels) {
    if (!placed.some((other) => Math.abs(other.x - label.x) < other.room + label.room && Math.abs(other.y - label.y) < 15)) placed.push(label);
  }
  return placed.map((label) => svg('text', {class: 'inside', 'text-anchor': 'middle', x: label.x, y: label.y + 4}, label.word));
}

function drawStream(body) {
  const {picture, layers} = layeredPicture(Math.max(body.clientWidth, 280), shownTopics('peak'), streamLayer,
    {role: 'listbox', 'aria-label': 'Expected share of words of each topic through time'});
  body.append(picture);
  roving(picture, layers, (layer) => choose(Number(layer.dataset.topic)));
}
