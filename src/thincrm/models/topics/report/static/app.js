// The page: header, filters, the chosen view, the card; redrawn when the state changes.
const TITLES = {
  timeline: ['Timeline', 'When each topic is open, with bands of 50 and 90 %. Choose one to see its words.'],
  map: ['Births & returns', 'A row per topic, the earliest born on top; the stronger the colour, the more likely open. Those in italics do not repeat.'],
  stream: ['Share of words', 'The expected share of words of every topic; at each time all sum to 100 %.'],
  groups: ['Groups', 'A coarse view: topics with words in common, put together. Those in italics do not repeat.'],
  documents: ['Documents', 'What a topic sounds like: typical passages, each word in the colour of the topic it most likely belongs to.'],
  words: ['Words', 'Where a word is used, and the topics it belongs to.'],
  model: ['Model', 'What was asked, what was learned, and whether to believe it.'],
};
const DRAW = {timeline: drawTimeline, map: drawMap, stream: drawStream, groups: drawGroups, documents: drawDocuments, words: drawWords,
  model: (body) => drawModel(body, modelChecks)};

const listsTopics = () => ['timeline', 'map', 'stream'].includes(state.view);

const narrow = () => matchMedia('(max-width: 1000px)').matches;

function choose(id) {
  change({topic: id});
  if (narrow()) byId('card').scrollIntoView({block: 'start'});
  byId('said').textContent = `Topic ${id}: ${nameOf(topics[id])}`;
}

function viewTools() {
  const {view} = state;
  const rows = {timeline: () => activationRows(shownTopics()), map: () => lifeRows(shownTopics('birth')),
    stream: () => activationRows(shownTopics('peak')), groups: groupRows, documents: documentRows, words: wordRows, model: modelRows}[view];
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
  if (view === 'timeline' || picture()) out.push(save);
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
    ? el('b', {class: 'shown'}, ` ${shown} of ${plural(topics.length, 'topic')}${searched}${during()}.`) : '');
  const body = byId('view-body');
  body.replaceChildren();
  if (listed && !shown) {
    body.append(el('p', {class: 'empty'}, 'No topic passes the filters. '), el('button', {type: 'button', class: 'tool', on: {click: () => {
      byId('query').value = '';
      change({shapes: [], query: '', least: 0, period: null});
    }}}, 'Show all'));
  } else DRAW[state.view](body);
  viewTools();
}

function showChosen() {
  if (state.view === 'documents') {
    byId('choice-topic').value = state.topic;
    drawView();
  }
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
  drawPeriod();
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
  if (any('shapes', 'least', 'period')) drawShapes();
  if (any('view', 'names')) drawChoices();
  if (any('view', 'theme')) drawPeriod();
  else if (any('period')) movePeriod();
  if (any('view', 'shapes', 'query', 'sort', 'least', 'measure', 'scale', 'layers', 'cut', 'period', 'theme', 'names')) drawView();
  else if (any('topic')) showChosen();
  if (any('topic', 'measure', 'scale', 'period', 'theme')) drawCard();
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
  drawPeriod();
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
