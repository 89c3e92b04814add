// Scales and axes, by D3. On the time axis dates are milliseconds, anything else is a number.
const DAY = 86400000;
const isDate = data.time.kind === 'date';
const onAxis = (value) => (isDate ? value * DAY : value);
const times = data.time.values.map(onAxis);
const [START, END] = d3.extent(times);
const wholeNumbers = !isDate && times.every(Number.isInteger);

// One time alone is in the middle of its axis.
function timeScale(left, right, [from, to] = [START, END]) {
  const half = from === to ? onAxis(0.5) : 0;
  return (isDate ? d3.scaleUtc() : d3.scaleLinear()).domain([from - half, to + half]).range([left, right]);
}

const linear = (from, to, start, end) => d3.scaleLinear().domain([from, to > from ? to : from + 1]).range([start, end]);

function drawnAxis(axis, place, kind = '') {
  const group = svg('g', {class: `axis ${kind}`, 'aria-hidden': 'true', transform: `translate(${place})`});
  d3.select(group).call(axis);
  return group;
}

// height: of grid lines above the axis.
function timeAxis(x, y, height = 0, make = d3.axisBottom) {
  const [left, right] = x.range();
  const many = Math.max(Math.floor((right - left) / (isDate ? 80 : 62)), 2);
  const axis = make(x).ticks(many).tickSizeOuter(0).tickPadding(height ? 6 : 3);
  if (START === END) axis.tickValues([START]).tickFormat(() => data.time.labels[0]);
  else if (wholeNumbers) axis.tickValues(x.ticks(many).filter(Number.isInteger)).tickFormat(d3.format('d'));
  if (height) axis.tickSizeInner(-height);
  return drawnAxis(axis, `0 ${y}`, height ? 'grid' : '');
}

// Values on the left with grid lines to the right.
function valueAxis(y, left, right, many, format = null) {
  const axis = d3.axisLeft(y).ticks(many).tickSize(left - right).tickPadding(6).tickFormat(format);
  return drawnAxis(axis, `${left} 0`, 'grid bare');
}

// A place on the time axis as text: one of the fit's own times where there is one.
function timeLabel(value) {
  const place = times.indexOf(value);
  if (place >= 0) return data.time.labels[place];
  if (!isDate) return String(Number(value.toPrecision(6)));
  const text = new Date(value).toISOString();
  return END - START < 60 * DAY && !text.includes('T00:00') ? text.slice(0, 16).replace('T', ' ') : text.slice(0, 10);
}

function nearestTime(value) {
  const right = clamp(d3.bisectLeft(times, value), 1, Math.max(times.length - 1, 1));
  return times.length === 1 || value - times[right - 1] <= times[right] - value ? right - 1 : right;
}

// The place in `times` under the pointer, in a picture whose time scale is x.
function timeUnder(event, picture, x) {
  const box = picture.getBoundingClientRect();
  return nearestTime(Number(x.invert(((event.clientX - box.left) / box.width) * picture.viewBox.baseVal.width)));
}

// Curves through all times; of one time alone, a level line.
const across = START === END ? timeScale(0, 1).domain().map(Number) : times;
const valueAt = (values, i) => values[Math.min(i, times.length - 1)];
const linePath = (x, y, values) => d3.line().x((t) => x(t)).y((_, i) => y(valueAt(values, i)))(across);
const bandPath = (x, y, low, high) => d3.area().x((t) => x(t))
  .y0((_, i) => y(valueAt(low, i))).y1((_, i) => y(valueAt(high, i)))(across);
