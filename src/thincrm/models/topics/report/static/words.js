// A word: how often it is used through time, and the topics it belongs to.
function wordPicture(code, width) {
  const height = 190;
  const [left, bottom, top] = [46, height - 26, 10];
  const rate = data.vocabulary.curves[code].map((n, b) => (1e4 * n) / Math.max(data.vocabulary.totals[b], 1));
  const most = d3.max(rate) || 1;
  const x = timeScale(left, width - 10, d3.extent(edges));
  const y = linear(0, most, bottom, top);
  const picture = svg('svg', {class: 'word-curve', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `Occurrences of ${wordOf(code)} in 10,000 words through time, at most ${most.toFixed(1)}`});
  picture.append(periodMark(x, bottom), valueAxis(y, left, width - 10, 4));
  d3.select(picture).selectAll('.rate').data(rate).enter().append('rect').attr('class', 'rate')
    .attr('x', (_, b) => x(edges[b]) + 0.5).attr('width', (_, b) => Math.max(x(edges[b + 1]) - x(edges[b]) - 1, 1))
    .attr('y', (value) => y(value)).attr('height', (value) => bottom - y(value))
    .attr('fill', (_, b) => colourAt((edges[b] + edges[b + 1]) / 2))
    .on('pointerleave', hideTip).on('pointermove', (_, b) => showTip(d3.event, [
      `${wordOf(code)} · ${periodName(b, b)}`,
      `${plural(data.vocabulary.curves[code][b], 'time')} in ${plural(data.vocabulary.totals[b], 'word')}`]));
  picture.append(timeAxis(x, bottom));
  return picture;
}

function wordTopics(code) {
  const list = el('ol', {class: 'homes'});
  for (const [id, share] of data.vocabulary.homes[code]) {
    const topic = topics[id];
    const bar = svg('svg', {viewBox: '0 0 100 8', preserveAspectRatio: 'none', class: 'home-bar', 'aria-hidden': 'true'},
      svg('rect', {class: 'track', width: 100, height: 8}), svg('rect', {width: 100 * share, height: 8, fill: colourOf(topic)}));
    list.append(el('li', {}, el('button', {type: 'button', class: 'home', 'data-topic': id,
      on: {click: () => choose(id)}}, el('span', {class: 'home-name'}, nameOf(topic)), bar,
    el('span', {class: 'home-share'}, percent(share)))));
  }
  return list;
}

function drawWords(body) {
  const found = foundWords(state.query);
  if (!state.query.trim()) {
    const frequent = data.vocabulary.counts.map((n, code) => [n, code]).sort((a, b) => b[0] - a[0]).slice(0, 60);
    body.append(el('p', {class: 'note'}, 'Type a word above, or choose one of the most frequent:'),
      el('div', {class: 'cloud'}, ...frequent.map(([, code]) => wordButton(code))), ...datingWords());
    return;
  }
  if (!found.length) {
    body.append(el('p', {class: 'empty'}, `No word of the model has “${state.query.trim()}” in it.`));
    return;
  }
  const [code] = found;
  body.append(
    el('h3', {}, `“${wordOf(code)}” `, el('small', {}, plural(data.vocabulary.counts[code], 'occurrence'), state.period ? `, ${count(inChosen(data.vocabulary.curves[code]))}${during()}` : '')),
    el('p', {class: 'note'}, 'Occurrences in 10,000 words of the same time'),
    wordPicture(code, Math.max(body.clientWidth, 280)),
    el('p', {class: 'note'}, 'Topics its occurrences belong to'), wordTopics(code));
  if (found.length > 1) {
    body.append(el('p', {class: 'note'}, 'Other words that match'),
      el('div', {class: 'cloud'}, ...found.slice(1, 40).map(wordButton)));
  }
}

// Words that speak most for a time, and how much likelier that time is for a page with the word.
function datingWords() {
  const spans = data.dating.filter((span) => span.words.length);
  if (!spans.length) return [];
  const row = (span) => el('tr', {}, el('th', {scope: 'row'}, periodName(span.from, span.to)), el('td', {class: 'cloud'},
    ...span.words.map(([code, factor]) => el('span', {}, wordButton(code), el('small', {}, ` ×${factor}`)))));
  return [el('h3', {}, 'Words that date a page'), el('p', {class: 'note'}, 'How many times the word raises the odds '
    + 'that a page is of this time, beside all its other words.'),
  el('table', {class: 'dating'}, el('tbody', {}, ...spans.map(row)))];
}

const wordButton = (code) => el('button', {type: 'button', class: 'word', on: {click: () => searchFor(wordOf(code))}},
  wordOf(code));

function searchFor(word) {
  byId('query').value = word;
  change({query: word, view: 'words'});
  byId('view').focus({preventScroll: !narrow()});
}

function wordRows() {
  const found = foundWords(state.query);
  const rows = [['word', 'from', 'to', 'occurrences', 'words_in_all']];
  for (const code of found.slice(0, 40)) {
    data.vocabulary.curves[code].forEach((n, b) => rows.push([wordOf(code), periodStart(b), periodEnd(b), n, data.vocabulary.totals[b]]));
  }
  return rows;
}
