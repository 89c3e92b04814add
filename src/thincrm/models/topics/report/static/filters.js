// The bar above the views: tabs, shapes, choices.
// On a narrow screen the first word has to do.
function tabName(title) {
  const [first, ...rest] = title.split(' ');
  return rest.length ? [first, el('span', {class: 'long'}, ` ${rest.join(' ')}`)] : [first];
}

function drawTabs() {
  const box = byId('views');
  const tabs = VIEWS.map((view) => el('button', {type: 'button', role: 'tab', id: `tab-${view}`, 'data-view': view,
    'aria-selected': String(view === state.view), 'aria-controls': 'view', on: {click: () => change({view})}}, ...tabName(TITLES[view][0])));
  box.replaceChildren(...tabs);
  return tabs;
}

function drawShapes() {
  const sized = topics.filter((topic) => sizeOf(topic) >= state.least);
  byId('shapes').replaceChildren(...data.shapes.map((name) => {
    const many = sized.filter((topic) => topic.shapeName === name).length;
    const on = state.shapes.includes(name);
    return el('button', {type: 'button', class: 'chip', 'aria-pressed': String(on), 'data-shape': name, disabled: !many && !on, on: {click: () => {
      change({shapes: on ? state.shapes.filter((other) => other !== name) : [...state.shapes, name]});
      byId('shapes').querySelector(`[data-shape=${name}]`).focus();
    }}}, shapeIcon(name), name, el('small', {}, String(many)));
  }));
}

const ICONS = {rising: 'M1 9L5 8L9 4L15 1', falling: 'M1 1L7 4L11 8L15 9', peaked: 'M1 9C6 9 6 1 8 1S10 9 15 9',
  intermittent: 'M1 9L3 9L5 2L7 9L9 9L11 2L13 9L15 9', steady: 'M1 4L15 4'};
const shapeIcon = (name) => svg('svg', {viewBox: '0 0 16 10', class: 'shape-icon', 'aria-hidden': 'true'},
  svg('path', {d: ICONS[name] ?? 'M1 5H15'}));

function drawChoices() {
  const select = (label, key, options, read = (x) => x) => {
    const box = el('select', {'aria-label': label, id: `choice-${key}`, on: {change: (event) => change({[key]: read(event.target.value)})}},
      ...options.map(([value, text]) => el('option', {value, selected: String(state[key]) === value}, text)));
    return el('span', {class: 'choice'}, box);
  };
  const {view} = state;
  const out = [];
  if (view === 'timeline') {
    out.push(select('Show', 'measure', [['open', 'Probability open'], ['share', 'Share of words']]),
      select('Order', 'sort', [['peak', 'Ordered by peak'], ['birth', 'Ordered by birth'], ['size', 'Ordered by size'], ['name', 'Ordered by name']]));
  }
  if (view === 'timeline' || view === 'map') out.push(select('Scale', 'scale', [['own', 'Own scales'], ['same', 'Same scale']]));
  if (view === 'groups') out.push(select('Groups', 'cut', data.groups.map(({number}) => [String(number), plural(number, 'group')]), Number));
  if (view === 'stream' || view === 'groups') out.push(select('Layers', 'layers', [['stack', 'Stacked to 100 %'], ['stream', 'As a stream']]));
  if (view === 'documents') {
    out.push(select('Topic', 'topic', topics.map((topic) => [String(topic.id), `${topic.id}: ${nameOf(topic)}`]), Number));
  }
  if (listsTopics()) out.push(select('Least size', 'least', Object.entries(SIZES).sort((a, b) => a[0] - b[0]), Number));
  byId('choices').replaceChildren(...out);
  byId('shapes').hidden = !listsTopics();
  byId('filters').hidden = !out.length;
}
