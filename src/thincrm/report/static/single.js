// A page of one panel: a tab per view, choices, and an address that holds what is shown.
// views: {name: {title, note, rows(shown), draw(body, shown), choices: {key: [label, {value: text}]}}}
function runPage(views) {
  const names = Object.keys(views);
  const choices = Object.assign({}, ...names.map((name) => views[name].choices ?? {}));
  let shown = {};

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const pick = (key, allowed, other = allowed[0]) => (allowed.includes(given.get(key)) ? given.get(key) : other);
    shown = {view: pick('view', names), theme: pick('theme', ['light', 'dark'], '')};
    for (const [key, [, options]] of Object.entries(choices)) shown[key] = pick(key, Object.keys(options));
  }

  function show(patch) {
    shown = {...shown, ...patch};
    const out = new URLSearchParams(Object.entries(shown).filter(([, value]) => value));
    history.replaceState(null, '', `${location.pathname}${location.search}#${out}`);
    drawPage();
  }

  function drawTabs() {
    const tabs = names.map((view) => el('button', {type: 'button', role: 'tab', id: `tab-${view}`,
      'aria-selected': String(view === shown.view), 'aria-controls': 'view', on: {click: () => show({view})}}, views[view].title));
    const list = el('div', {class: 'tab-list'}, ...tabs);
    byId('views').replaceChildren(list);
    roving(list, tabs, (tab) => tab.click());
  }

  function drawChoices() {
    byId('choices').replaceChildren(...Object.entries(views[shown.view].choices ?? {}).map(([key, [label, options]]) =>
      el('span', {class: 'choice'}, el('select', {id: `choice-${key}`, 'aria-label': label,
        on: {change: (event) => show({[key]: event.target.value})}},
      ...Object.entries(options).map(([value, text]) => el('option', {value, selected: value === shown[key]}, text))))));
  }

  function drawPage() {
    hideTip();
    useTheme(shown.theme);
    const held = document.activeElement?.id;
    drawTabs();
    drawChoices();
    const view = views[shown.view];
    byId('view-title').textContent = view.title;
    byId('view-note').textContent = view.note;
    byId('view-tools').replaceChildren(toolButton('CSV', 'Download the numbers of this view as CSV',
      () => download(`${shown.view}.csv`, 'text/csv', csv(view.rows(shown)))));
    const body = byId('view-body');
    body.replaceChildren();
    view.draw(body, shown);
    if (held) byId(held)?.focus({preventScroll: true});
  }

  readAddress();
  byId('theme').addEventListener('click', () => show({theme: darkNow() ? 'light' : 'dark'}));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawPage);
  addEventListener('hashchange', () => { readAddress(); drawPage(); });
  let drawnWidth = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === drawnWidth) return;
    drawnWidth = innerWidth;
    drawPage();
  });
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('main').focus();
  });
  byId('foot').replaceChildren(data.settings[data.settings.length - 1][1], ' · one file, no network');
  drawHeader();
  drawPage();
}

// Cards side by side, as many as there is room for; `card(item, width)` makes one.
function cardGrid(body, items, card) {
  const columns = Math.max(1, Math.floor(body.clientWidth / 380));
  const width = Math.max((body.clientWidth - (columns - 1) * 16) / columns - 34, 240);
  body.append(el('div', {class: 'feature-grid'}, ...items.map((item) => card(item, width))));
}

const cardHead = (colour, name, picture) => el('div', {class: 'card-head'},
  svg('svg', {viewBox: '0 0 10 10', class: 'dot', 'aria-hidden': 'true'}, svg('circle', {cx: 5, cy: 5, r: 5, fill: colour})),
  el('h3', {}, name), el('span', {class: 'spacer'}),
  toolButton('SVG', `Download the curve of ${name} as SVG`, () => downloadPicture(`${name.toLowerCase().replaceAll(' ', '-')}.svg`, picture)));

// The view of settings and draws, which every page has.
const MODEL_VIEW = {title: 'Model', note: 'What was asked, what was learned, and whether to believe it.',
  rows: modelRows, draw: (body) => drawModel(body)};
