// What is shown, kept in the address: a link opens the page as it was left.
const VIEWS = ['timeline', 'map', 'stream', 'groups', 'documents', 'words', 'model'];
const SORTS = {peak: 'peak', birth: 'birth', size: 'size', name: 'name'};
const SIZES = {0: 'Topics of any size', 0.001: 'At least 0.1 % of words', 0.005: 'At least 0.5 % of words', 0.01: 'At least 1 % of words'};
const DEFAULTS = {
  view: 'timeline', topic: 0, lambda: 0.6, shapes: [], query: '', sort: 'peak',
  least: data.topics.length > 40 ? 0.001 : 0, // of many topics, the tiniest wait behind a choice
  measure: 'open', scale: 'own', layers: 'stack', cut: (data.groups.find((cut) => cut.number === 12) ?? data.groups[0]).number, period: null, theme: '', names: {},
};
let state = {...DEFAULTS};
const listeners = [];

const one = (value, allowed, other) => (allowed.includes(value) ? value : other);
const number = (text, low, high, other) => {
  const value = text === null || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? clamp(value, low, high) : other;
};

// Numbers of the first and last period, as in 3-17.
function readPeriod(text) {
  const [from, to] = (text ?? '').split('-').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : NaN));
  return from <= to && to < data.vocabulary.edges.length - 1 ? [from, to] : null;
}

function readHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const names = {};
  for (const part of given.getAll('name')) {
    const place = part.indexOf(':');
    const id = Number(part.slice(0, place));
    if (place > 0 && data.topics[id]) names[id] = part.slice(place + 1).slice(0, 80);
  }
  return {
    view: one(given.get('view'), VIEWS, DEFAULTS.view),
    topic: Math.round(number(given.get('topic'), 0, data.topics.length - 1, DEFAULTS.topic)),
    lambda: number(given.get('lambda'), 0, 1, DEFAULTS.lambda),
    shapes: (given.get('shapes') ?? '').split(',').filter((name) => data.shapes.includes(name)),
    query: (given.get('q') ?? '').slice(0, 200),
    sort: one(given.get('sort'), Object.keys(SORTS), DEFAULTS.sort),
    least: Number(one(given.get('least'), Object.keys(SIZES), String(DEFAULTS.least))),
    measure: one(given.get('measure'), ['open', 'share'], DEFAULTS.measure),
    scale: one(given.get('scale'), ['own', 'same'], DEFAULTS.scale),
    layers: one(given.get('layers'), ['stack', 'stream'], DEFAULTS.layers),
    cut: Number(one(given.get('cut'), data.groups.map((cut) => String(cut.number)), String(DEFAULTS.cut))),
    period: readPeriod(given.get('period')),
    theme: one(given.get('theme'), ['light', 'dark'], DEFAULTS.theme),
    names,
  };
}

function writeHash() {
  const out = new URLSearchParams();
  for (const key of ['view', 'topic', 'lambda', 'sort', 'least', 'measure', 'scale', 'layers', 'cut', 'theme']) {
    if (state[key] !== DEFAULTS[key]) out.set(key, state[key]);
  }
  if (state.shapes.length) out.set('shapes', state.shapes.join(','));
  if (state.period) out.set('period', state.period.join('-'));
  if (state.query) out.set('q', state.query);
  for (const [id, name] of Object.entries(state.names)) out.append('name', `${id}:${name}`);
  const hash = out.toString();
  const address = `${location.pathname}${location.search}${hash ? `#${hash}` : ''}`;
  history.replaceState(null, '', address);
}

function change(patch) {
  const before = state;
  state = {...state, ...patch};
  writeHash();
  const changed = new Set(Object.keys(patch).filter((key) => patch[key] !== before[key]));
  for (const listener of listeners) listener(changed);
}
