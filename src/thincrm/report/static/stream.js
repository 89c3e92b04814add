// Share of words: all topics stacked, so that they sum to one at every time.
function streamPicture(width) {
  const shown = shownTopics('peak');
  const height = clamp(width * 0.62, 300, 560);
  const [left, bottom, top] = [38, height - 28, 8];
  const x = scale(times[0], times[times.length - 1], left, width - 10);
  const y = scale(0, 1, bottom, top);
  const xs = times.length > 1 ? times.map(x) : [left, width - 10];
  const wide = (values) => (times.length > 1 ? values : [values[0], values[0]]);
  const picture = svg('svg', {class: 'stream', viewBox: `0 0 ${width} ${height}`, width, height, role: 'listbox',
    'aria-label': 'Expected share of words of each topic through time'});
  let base = times.map(() => 0);
  const labels = [];
  const layers = shown.map((topic) => {
    const next = base.map((value, i) => value + topic.share.mean[i]);
    const thick = topic.share.mean.map((value) => Math.abs(y(value) - y(0)));
    const widest = thick.indexOf(maximum(thick));
    const layer = svg('path', {role: 'option', class: 'layer', 'data-topic': topic.id, fill: colourOf(topic),
      d: bandPath(xs, wide(base).map((v) => y(v)), wide(next).map((v) => y(v))),
      'aria-selected': String(topic.id === state.topic),
      'aria-label': `Topic ${topic.id}: ${nameOf(topic)}; at most ${percent(maximum(topic.share.mean))} ` +
        `of words, in ${data.time.labels[topic.share.mean.indexOf(maximum(topic.share.mean))]}`,
      on: {click: () => choose(topic.id)}});
    layer.addEventListener('pointermove', (event) => {
      const box = picture.getBoundingClientRect();
      const i = nearestTime(x.inverse(((event.clientX - box.left) / box.width) * width));
      showTip(event, [`${nameOf(topic)} · ${data.time.labels[i]}`, ...saysAt(topic, i)]);
    });
    layer.addEventListener('pointerleave', hideTip);
    if (thick[widest] > 15) {
      labels.push({word: nameOf(topic).split(',')[0], thick: thick[widest], x: xs[widest],
        y: y((base[widest] + next[widest]) / 2)});
    }
    base = next;
    return layer;
  });
  const others = svg('path', {class: 'others', d: bandPath(xs, wide(base).map((v) => y(v)), xs.map(() => y(1)))});
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'});
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    axis.append(svg('text', {x: left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, `${100 * tick} %`));
  }
  picture.append(others, ...layers, ...freeLabels(labels, left, width - 10), axis, timeAxis(x, bottom, width - left, 0));
  return {picture, layers};
}

// Labels of the thickest layers first; one that would lie on another is left out.
function freeLabels(labels, from, to) {
  const placed = [];
  for (const label of [...labels].sort((a, b) => b.thick - a.thick)) {
    const room = label.word.length * 3.9 + 4;
    const x = clamp(label.x, from + room, to - room);
    if (placed.some((other) => Math.abs(other.x - x) < other.room + room && Math.abs(other.y - label.y) < 15)) continue;
    placed.push({...label, x, room});
  }
  return placed.map((label) => svg('text', {class: 'inside', 'text-anchor': 'middle', x: round(label.x),
    y: round(label.y + 4)}, label.word));
}

function drawStream(body) {
  const {picture, layers} = streamPicture(Math.max(body.clientWidth, 280));
  body.append(picture);
  roving(picture, layers, (layer) => choose(Number(layer.dataset.topic)));
}
