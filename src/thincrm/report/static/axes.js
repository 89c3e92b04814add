// Axes: round numbers, and dates that stay dates.
const DAY = 86400000;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function scale(from, to, start, end) {
  const span = to - from || 1;
  const at = (x) => start + ((x - from) / span) * (end - start);
  at.inverse = (pixel) => from + ((pixel - start) / (end - start || 1)) * span;
  return at;
}

function niceStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((m) => m * power >= raw * 0.999);
}

function numberTicks(from, to, most) {
  if (!(to > from)) return [{at: from, label: shortNumber(from, 1)}];
  const step = niceStep((to - from) / Math.max(most, 1));
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i += 1) {
    ticks.push({at: i * step, label: shortNumber(i * step, step)});
  }
  return ticks.length > 1 || most > 30 ? ticks : numberTicks(from, to, 2 * most);
}

function shortNumber(x, step) {
  if (x !== 0 && (Math.abs(x) >= 1e7 || Math.abs(x) < 1e-4)) return x.toExponential(1);
  return x.toFixed(clamp(Math.ceil(-Math.log10(step) - 1e-9), 0, 6));
}

function utc(year, month = 0, day = 1) {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  return date.getTime() / DAY;
}

function dateTicks(from, to, most) {
  const start = new Date(from * DAY);
  const span = Math.max(to - from, 1e-6) / Math.max(most, 1);
  const inside = (list) => list.filter((tick) => tick.at >= from - 1e-9 && tick.at <= to + 1e-9);
  const ticks = [];
  if (span > 200) {
    const step = Math.max(niceStep(span / 365.25), 1);
    for (let y = Math.ceil(start.getUTCFullYear() / step) * step; utc(y) <= to; y += step) {
      ticks.push({at: utc(y), label: String(y)});
    }
  } else if (span > 20) {
    const step = [1, 2, 3, 6, 12].find((m) => m * 30.4 >= span);
    for (let m = 0; utc(start.getUTCFullYear(), m) <= to; m += step) {
      const at = utc(start.getUTCFullYear(), m);
      const date = new Date(at * DAY);
      ticks.push({at, label: `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`});
    }
  } else if (span > 0.6) {
    const step = [1, 2, 5, 7, 14, 28].find((d) => d >= span);
    for (let at = Math.ceil(from); at <= to; at += step) {
      const date = new Date(at * DAY);
      ticks.push({at, label: `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`});
    }
  } else {
    const step = [1, 5, 15, 30, 60, 180, 360, 720].find((minutes) => minutes / 1440 >= span) ?? 1440;
    for (let i = Math.ceil((from * 1440) / step); (i * step) / 1440 <= to; i += 1) {
      const date = new Date(i * step * 60000);
      ticks.push({at: (i * step) / 1440, label: date.toISOString().slice(11, 16)});
    }
  }
  return inside(ticks);
}

const times = data.time.values;
const isDate = data.time.kind === 'date';
const wholeYears = !isDate && times.every(Number.isInteger);

function timeTicks(width, from = times[0], to = times[times.length - 1]) {
  const most = Math.max(Math.floor(width / 74), 2);
  if (from === to) return [{at: from, label: timeLabel(from)}];
  if (isDate) return dateTicks(from, to, most);
  return numberTicks(from, to, most).filter((tick) => !wholeYears || Number.isInteger(tick.at));
}

// A number on the time axis as text: one of the fit's own times where there is one.
function timeLabel(value) {
  const place = times.indexOf(value);
  if (place >= 0) return data.time.labels[place];
  if (!isDate) return String(Number(value.toPrecision(6)));
  return new Date(value * DAY).toISOString().slice(0, 10);
}

function nearestTime(value) {
  let best = 0;
  times.forEach((t, i) => { if (Math.abs(t - value) < Math.abs(times[best] - value)) best = i; });
  return best;
}

function timeAxis(x, y, width, height) {
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'});
  axis.append(svg('line', {x1: x(times[0]), x2: x(times[times.length - 1]), y1: y, y2: y}));
  for (const tick of timeTicks(width)) {
    const at = round(x(tick.at));
    if (height) axis.append(svg('line', {class: 'grid', x1: at, x2: at, y1: y - height, y2: y}));
    axis.append(svg('line', {x1: at, x2: at, y1: y, y2: y + 4}),
      svg('text', {x: at, y: y + 16, 'text-anchor': 'middle'}, tick.label));
  }
  return axis;
}

const linePath = (xs, ys) => xs.map((x, i) => `${i ? 'L' : 'M'}${round(x)} ${round(ys[i])}`).join('');
const bandPath = (xs, lows, highs) =>
  `${linePath(xs, highs)}L${xs.map((_, i) => xs.length - 1 - i)
    .map((i) => `${round(xs[i])} ${round(lows[i])}`).join('L')}Z`;
