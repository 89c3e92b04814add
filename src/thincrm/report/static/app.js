// The page: header, filters, the chosen view, the card; redrawn when the state changes.
const TITLES = {
  timeline: ['Timeline', 'When each topic is open, with bands of 50 and 90 %. Choose one to see its words.'],
  map: ['Births & returns', 'A row per topic, the earliest born on top; the stronger the colour, the more likely open.'],
  stream: ['Share of words', 'The expected share of words of every topic; at each time all sum to 100 %.'],
  words: ['Words', 'Where a word is used, and the topics it belongs to.'],
  model: ['Model', 'What was asked, what was learned, and whether to believe it.'],
};
const DRAW = {timeline: drawTimeline, map: drawMap, stream: drawStream, words: drawWords, model: drawModel};

const listsTopics = () => ['timeline', 'map', 'stream'].includes(state.view);

const narrow = () => matchMedia('(max-width: 1000px)').matches;

function choose(id) {
  change({topic: id});
  if (narrow()) byId('card').scrollIntoView({block: 'start'});
  byId('said').textContent = `Topic ${id}: ${nameOf(topics[id])}`;
}

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
  const sized = topics.filter((topic) => topic.size >= state.least);
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
  if (listsTopics()) out.push(select('Least size', 'least', Object.entries(SIZES).sort((a, b) => a[0] - b[0]), Number));
  byId('choices').replaceChildren(...out);
  byId('filters').hidden = !listsTopics();
}

function viewTools() {
  const {view} = state;
  const rows = {timeline: () => activationRows(shownTopics()), map: () => lifeRows(shownTopics('birth')),
    stream: () => activationRows(shownTopics('peak')), words: wordRows, model: modelRows}[view];
  const picture = () => {
    if (view !== 'timeline') return byId('view-body').querySelector('svg:not(.key-mark)');
    const drawn = timelinePicture();
    byId('view-body').append(drawn); // styles are known of what is in the page only
    return drawn;
  };
  const out = [toolButton('CSV', 'Download the numbers of this view as CSV', () => download(`${view}.csv`, 'text/csv', csv(rows())))];
  const save = toolButton('SVG', 'Download this view as SVG', () => {
    const drawn = picture();
    if (drawn) downloadPicture(`${view}.svg`, drawn);
    if (view === 'timeline') drawn.remove();
  });
  if (view !== 'words' || foundWords(state.query).length) out.push(save);
  byId('view-tools').replaceChildren(...out);
}

function drawView() {
  hideTip();
  const [title, note] = TITLES[state.view];
  byId('view-title').textContent = title;
  const listed = listsTopics();
  const shown = listed ? shownTopics().length : 0;
  const [code] = foundWords(state.query);
  const searched = code === undefined ? '' : `, those with “${wordOf(code)}”`;
  byId('view-note').replaceChildren(note, listed
    ? el('b', {class: 'shown'}, ` ${shown} of ${plural(topics.length, 'topic')}${searched}.`) : '');
  const body = byId('view-body');
  body.replaceChildren();
  if (listed && !shown) {
    body.append(el('p', {class: 'empty'}, 'No topic passes the filters. '), el('button', {type: 'button', class: 'tool', on: {click: () => {
      byId('query').value = '';
      change({shapes: [], query: '', least: 0});
    }}}, 'Show all'));
  } else DRAW[state.view](body);
  viewTools();
}

function markChosen() {
  for (const node of document.querySelectorAll('#view-body [role=option]')) {
    node.setAttribute('aria-selected', String(Number(node.dataset.topic) === state.topic));
  }
}

function drawAll() {
  useTheme(state.theme);
  drawTabs();
  roving(byId('views'), [...byId('views').children], (tab) => tab.click());
  drawShapes();
  drawChoices();
  drawView();
  drawCard();
}

listeners.push((changed) => {
  const any = (...keys) => keys.some((key) => changed.has(key));
  if (any('theme')) useTheme(state.theme);
  if (any('view')) {
    for (const tab of byId('views').children) {
      tab.setAttribute('aria-selected', String(tab.dataset.view === state.view));
      tab.setAttribute('tabindex', tab.dataset.view === state.view ? '0' : '-1');
    }
  }
  if (any('shapes', 'least')) drawShapes();
  if (any('view')) drawChoices();
  if (any('view', 'shapes', 'query', 'sort', 'least', 'measure', 'scale', 'theme', 'names')) drawView();
  else if (any('topic')) markChosen();
  if (any('topic', 'measure', 'scale', 'theme')) drawCard();
});

state = readHash();
byId('query').value = state.query;
byId('query').addEventListener('input', (event) => {
  const words = foundWords(event.target.value).slice(0, 12);
  byId('suggestions').replaceChildren(...words.map((code) => el('option', {value: wordOf(code)})));
  change({query: event.target.value});
});
byId('search').addEventListener('submit', (event) => {
  event.preventDefault();
  change({view: 'words'});
});
byId('theme').addEventListener('click', () => change({theme: darkNow() ? 'light' : 'dark'}));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
addEventListener('hashchange', () => {
  if (location.hash === '#main') return;
  state = readHash();
  byId('query').value = state.query;
  drawAll();
});
let lastWidth = innerWidth;
addEventListener('resize', () => {
  if (innerWidth === lastWidth) return;
  lastWidth = innerWidth;
  drawView();
  drawCard();
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('main').focus();
});
byId('foot').replaceChildren(el('span', {}, data.settings[data.settings.length - 1][1]), ' · ',
  el('span', {}, 'one file, no network, the address holds what you see'), ' · ',
  toolButton('All words as CSV', 'Download the words of all topics as CSV', () => download('topics.csv', 'text/csv', csv(topicWordRows(topics)))),
  toolButton('Names as CSV', 'Download the names of all topics as CSV', () => download('names.csv', 'text/csv',
    csv([['topic', 'name'], ...topics.map((topic) => [topic.id, nameOf(topic)])]))));
drawHeader();
drawAll();
