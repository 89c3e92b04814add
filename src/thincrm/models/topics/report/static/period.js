// A period of time, chosen by brushing the strip of documents or in two lists; the views keep to it.
const edges = data.vocabulary.edges.map(onAxis);
const PERIODS = edges.length - 1;
const periodStart = (b) => timeLabel(edges[b]);
function periodEnd(b) {
  if (b === PERIODS - 1) return timeLabel(END);
  if (wholeNumbers) return timeLabel(edges[b + 1] - 1);
  return timeLabel(isDate && edges[b + 1] - edges[b] >= 2 * DAY ? edges[b + 1] - DAY : edges[b + 1]);
}
const periodName = (a, b) => (periodStart(a) === periodEnd(b) ? periodStart(a) : `${periodStart(a)} to ${periodEnd(b)}`);
const chosenPeriods = () => (state.period ? d3.range(state.period[0], state.period[1] + 1) : d3.range(PERIODS));
const periodOf = (t) => clamp(d3.bisectRight(edges, t) - 1, 0, PERIODS - 1);
const inPeriod = (t) => !state.period || (periodOf(t) >= state.period[0] && periodOf(t) <= state.period[1]);
const shownSpan = () => (state.period ? [edges[state.period[0]], Math.min(edges[state.period[1] + 1], END)] : [START, END]);
const during = () => (state.period ? ` in ${periodName(...state.period)}` : '');

// Sums of numbers by period over what is chosen.
const inChosen = (values) => d3.sum(chosenPeriods(), (b) => values[b]);
const sizeOf = (topic) => (state.period ? inChosen(topic.through) / Math.max(inChosen(data.vocabulary.totals), 1) : topic.size);

function periodMark(x, height) {
  if (!state.period) return svg('g');
  const [left, right] = shownSpan().map((t) => x(t));
  return svg('rect', {class: 'period-mark', x: left, width: Math.max(right - left, 1), y: 0, height});
}

function choosePeriod(period) {
  const all = !period || (period[0] === 0 && period[1] === PERIODS - 1);
  change({period: all ? null : period});
  byId('said').textContent = all ? 'All time' : `Period ${periodName(...period)}`;
}

let movePeriod = () => {}; // brush and lists say what the state says

function periodLists() {
  const pick = (id, label, name, place, other) => el('label', {class: 'choice'}, label, el('select', {id, on: {change: (event) => {
    const chosen = Number(event.target.value);
    const range = state.period ? [...state.period] : [0, PERIODS - 1];
    range[place] = chosen;
    range[1 - place] = other(range[1 - place], chosen);
    choosePeriod(range);
  }}}, ...d3.range(PERIODS).map((b) => el('option', {value: b}, name(b)))));
  return [pick('period-from', 'From', periodStart, 0, Math.max), pick('period-to', 'to', periodEnd, 1, Math.min),
    el('button', {type: 'button', class: 'tool', id: 'period-all', on: {click: () => choosePeriod(null)}}, 'All time')];
}

function drawPeriod() {
  const box = byId('period');
  box.hidden = PERIODS < 2 || state.view === 'model';
  if (box.hidden) return;
  const width = Math.max(byId('view-body').clientWidth, 280);
  const x = timeScale(8, width - 8, d3.extent(edges));
  const brush = d3.brushX().extent([[8, 0], [width - 8, 30]]).on('end', () => {
    if (!d3.event.sourceEvent || d3.event.sourceEvent.type === 'end') return; // moved by us, not by the user
    const range = d3.event.selection?.map((pixel) => Number(x.invert(pixel)));
    choosePeriod(range ? [periodOf(range[0]), clamp(d3.bisectLeft(edges, range[1]) - 1, periodOf(range[0]), PERIODS - 1)] : null);
    movePeriod();
  });
  const group = svg('g', {class: 'brush'});
  box.replaceChildren(svg('svg', {class: 'strip', viewBox: `0 0 ${width} 50`, width, height: 50, role: 'img',
    'aria-label': 'Documents through time. Drag over a period to keep to it, or use the lists below.'},
  documentTicks(x, 30, 24), timeAxis(x, 30), group), el('div', {class: 'period-lists', role: 'group', 'aria-label': 'Period'}, ...periodLists()));
  d3.select(group).call(brush);
  movePeriod = () => {
    const [a, b] = state.period ?? [0, PERIODS - 1];
    d3.select(group).call(brush.move, state.period ? [x(edges[a]), x(edges[b + 1])] : null);
    byId('period-from').value = a;
    byId('period-to').value = b;
    byId('period-all').disabled = !state.period;
  };
  movePeriod();
}
