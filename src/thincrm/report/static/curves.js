// A curve with its bands of 50 and 90 %, small or with axes.
const unpack = (curve) => Object.fromEntries(Object.entries(curve)
  .filter(([name]) => name !== 'unit')
  .map(([name, values]) => [name, values.map((value) => value * curve.unit)]));

function curvePicture(curve, colour, top, box) {
  const x = scale(times[0], times[times.length - 1], 0, box.width);
  const y = scale(0, top || 1, box.height - 1, 2);
  const xs = times.length > 1 ? times.map(x) : [0, box.width];
  const wide = (values) => (times.length > 1 ? values : [values[0], values[0]]).map((value) => y(value));
  const out = svg('g');
  out.append(
    svg('path', {d: bandPath(xs, wide(curve.lower), wide(curve.upper)), fill: colour, 'fill-opacity': 0.18}),
    svg('path', {d: bandPath(xs, wide(curve.low), wide(curve.high)), fill: colour, 'fill-opacity': 0.32}),
    svg('path', {class: 'curve', d: linePath(xs, wide(curve.mean)), stroke: colour}));
  return out;
}

// The same with axes, the number of documents below, and a cursor.
function axedCurve(curve, colour, most, width, label) {
  const height = 190;
  const [left, bottom, top] = [42, height - 40, 8];
  const x = scale(times[0], times[times.length - 1], left, width - 12);
  const y = scale(0, most || 1, bottom, top);
  const inner = curvePicture(curve, colour, most, {width: width - 12 - left, height: bottom - top + 3});
  inner.setAttribute('transform', `translate(${left} ${top - 2})`);
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'});
  for (const tick of numberTicks(0, 100 * most, 5)) {
    const at = round(y(tick.at / 100));
    axis.append(svg('line', {class: 'grid', x1: left, x2: width - 12, y1: at, y2: at}),
      svg('text', {x: left - 6, y: at + 4, 'text-anchor': 'end'}, `${tick.label} %`));
  }
  const rug = svg('g', {class: 'rug', 'aria-hidden': 'true'});
  const busiest = maximum(data.time.documents) || 1;
  times.forEach((t, i) => rug.append(svg('line', {x1: round(x(t)), x2: round(x(t)), y1: height - 2,
    y2: round(height - 2 - 12 * Math.sqrt(data.time.documents[i] / busiest))})));
  const cursor = svg('line', {class: 'cursor', y1: top, y2: bottom, x1: -9, x2: -9});
  const picture = svg('svg', {class: 'focus', viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: 'img',
    'aria-label': `${label} Arrow keys read values.`});
  picture.append(axis, inner, timeAxis(x, bottom, width - left, 0), rug, cursor);
  return {picture, cursor, x};
}

// The cursor follows pointer and arrow keys; `say(i)` gives the text for the i-th time.
function readCurve({picture, cursor, x}, start, say) {
  const readout = el('p', {class: 'readout', 'aria-live': 'polite'});
  const {width} = picture.viewBox.baseVal;
  let place = start;
  const show = (i) => {
    place = clamp(i, 0, times.length - 1);
    const at = round(x(times[place]));
    cursor.setAttribute('x1', at);
    cursor.setAttribute('x2', at);
    readout.replaceChildren(el('b', {}, data.time.labels[place]), `: ${say(place)}`);
  };
  picture.addEventListener('pointermove', (event) => {
    const box = picture.getBoundingClientRect();
    show(nearestTime(x.inverse(((event.clientX - box.left) / box.width) * width)));
  });
  picture.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9}[event.key];
    if (step === undefined) return;
    show(place + step);
    event.preventDefault();
  });
  show(place);
  return readout;
}
