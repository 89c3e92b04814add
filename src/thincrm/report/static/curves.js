// A curve with its bands of 50 and 90 %, small or with axes.
const unpack = (curve) => Object.fromEntries(Object.entries(curve)
  .filter(([name]) => name !== 'unit')
  .map(([name, values]) => [name, values.map((value) => value * curve.unit)]));

function curveMarks(curve, colour, x, y) {
  return faded(x, y.range()[0],
    svg('path', {d: bandPath(x, y, curve.lower, curve.upper), fill: colour, 'fill-opacity': 0.18}),
    svg('path', {d: bandPath(x, y, curve.low, curve.high), fill: colour, 'fill-opacity': 0.32}),
    svg('path', {class: 'curve', d: linePath(x, y, curve.mean), stroke: colour}));
}

// A tick mark per time that has documents, the longer the more.
function documentTicks(x, bottom, height) {
  const length = d3.scaleSqrt().domain([0, d3.max(data.time.documents) || 1]).range([0, height]);
  return svg('path', {class: 'rug', 'aria-hidden': 'true',
    d: times.map((t, i) => `M${x(t)} ${bottom}v${-length(data.time.documents[i])}`).join('')});
}

// The same with axes, the number of documents below, and a cursor.
function axedCurve(curve, colour, most, width, label) {
  const height = 190;
  const [left, bottom, top] = [42, height - 40, 8];
  const x = timeScale(left, width - 12);
  const y = linear(0, most || 1, bottom, top);
  const cursor = svg('line', {class: 'cursor', y1: top, y2: bottom, x1: -9, x2: -9});
  const picture = svg('svg', {class: 'focus', viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: 'img',
    'aria-label': `${label} Arrow keys read values.`},
  valueAxis(y, left, width - 12, 4, (value) => percent(value)), curveMarks(curve, colour, x, y),
  timeAxis(x, bottom), documentTicks(x, height - 2, 12), cursor);
  return {picture, cursor, x, bottom};
}

// The cursor follows pointer and arrow keys; `say(i)` gives the text for the i-th time.
function readCurve({picture, cursor, x}, start, say) {
  const readout = el('p', {class: 'readout', 'aria-live': 'polite'});
  let place = start;
  const show = (i) => {
    place = clamp(i, 0, times.length - 1);
    d3.select(cursor).attr('x1', x(times[place])).attr('x2', x(times[place]));
    readout.replaceChildren(el('b', {}, data.time.labels[place]), `: ${say(place)}`);
  };
  picture.addEventListener('pointermove', (event) => show(timeUnder(event, picture, x)));
  picture.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9}[event.key];
    if (step === undefined) return;
    show(place + step);
    event.preventDefault();
  });
  show(place);
  return readout;
}
