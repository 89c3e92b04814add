// The card of one topic: its curve, its words by relevance, quotations, neighbours.
const WORDS_SHOWN = 15;
const QUOTED = 3;

function focusChart(topic, width) {
  const kind = state.measure === 'open' ? 'Probability of being open' : 'Share of words';
  const chart = axedCurve(topic[state.measure], colourOf(topic), cellTop(topic, state.measure), width,
    `${kind} of topic ${topic.id} through time with bands; highest in ${data.time.labels[topic.peak]}.`);
  chart.picture.id = 'focus-chart';
  chart.picture.prepend(periodMark(chart.x, chart.bottom));
  return [chart.picture, readCurve(chart, topic.peak, (i) => saysAt(topic, i).join('; '))];
}

function wordBars(topic) {
  const list = el('ol', {class: 'word-bars', id: 'word-bars'});
  const shown = relevantWords(topic, state.lambda, WORDS_SHOWN);
  const at = linear(0, d3.max(shown, (word) => word.upper) || 1, 0, 100).clamp(true);
  const colour = colourOf(topic);
  for (const word of shown) {
    const bar = svg('svg', {viewBox: '0 0 100 14', preserveAspectRatio: 'none', class: 'word-bar', 'aria-hidden': 'true'},
      svg('rect', {class: 'track', width: 100, height: 14}),
      svg('rect', {width: at(word.mean), height: 14, fill: colour, 'fill-opacity': 0.75}),
      svg('line', {class: 'whisker', x1: at(word.lower), x2: at(word.upper), y1: 7, y2: 7}),
      svg('line', {class: 'common', x1: at(commonness(word.code)), x2: at(commonness(word.code)), y1: 0, y2: 14}));
    const row = el('li', {}, el('button', {type: 'button', class: 'word-row', 'aria-label':
      `${wordOf(word.code)}: ${percent(word.mean)} of the topic, ${percent(commonness(word.code))} of all words. Search it.`,
    on: {click: () => searchFor(wordOf(word.code)), pointerleave: hideTip, pointermove: (event) => showTip(event, [wordOf(word.code),
      `${percent(word.mean)} of the topic's words (90 %: ${percent(word.lower)} to ${percent(word.upper)})`,
      `${percent(commonness(word.code))} of all words: ${(word.mean / commonness(word.code)).toFixed(1)} times as often here`])}},
    el('span', {class: 'word-name'}, wordOf(word.code)), bar, el('span', {class: 'word-share'}, percent(word.mean))));
    list.append(row);
  }
  return list;
}

function relevanceSlider(topic) {
  const value = el('output', {for: 'lambda', class: 'lambda-value'}, state.lambda.toFixed(2));
  const slider = el('input', {type: 'range', id: 'lambda', min: 0, max: 1, step: 0.05,
    'aria-describedby': 'lambda-note', on: {input: (event) => {
      change({lambda: Number(event.target.value)});
      value.textContent = state.lambda.toFixed(2);
      byId('word-bars').replaceWith(wordBars(topic));
    }}});
  slider.value = state.lambda;
  return el('div', {class: 'slider'}, el('label', {for: 'lambda'}, 'Relevance λ'), slider, value,
    el('span', {class: 'slider-ends', id: 'lambda-note'}, el('span', {}, '0 only here'), el('span', {}, 'most used 1')));
}

// The topic's words are marked in the quotation; all else is plain text.
function quotations(topic) {
  const quoted = quotedIn(topic).slice(0, QUOTED);
  const marked = (text) => text.map((piece) => (!Array.isArray(piece) ? piece : piece[1] === topic.id ? el('mark', {}, piece[0]) : piece[0]));
  if (!quoted.length) return [el('p', {class: 'note'}, `None of them is of the period; see Documents.`)];
  return quoted.map((quotation) => {
    const shown = data.documents[quotation.document];
    return el('figure', {class: 'quotation'},
      quotation.text === undefined ? null : el('blockquote', {dir: 'auto'}, ...marked(quotation.text)),
      el('figcaption', {}, `${documentName(shown)}, ${shown.time}`, el('span', {class: 'quiet-text'}, ` · ${percent(quotation.share)} of its words`)));
  });
}

function shapeList(topic) {
  const kept = data.shapes.map((name, i) => [name, topic.shape[i]]).filter(([, chance]) => chance >= 0.005)
    .sort((a, b) => b[1] - a[1]);
  return kept.map(([name, chance]) => `${name} ${percent(chance)}`).join(', ');
}

function facts(topic) {
  const when = ([lower, median, upper]) => (lower === upper ? timeLabel(median)
    : `${timeLabel(median)} (${timeLabel(lower)} to ${timeLabel(upper)})`);
  const rows = [
    ['Size', `${percent(topic.size)} of words, ${plural(topic.documents, 'document')}`],
    state.period ? ['In the period', `${percent(sizeOf(topic))} of words`] : null,
    topic.weight ? ['When open', topic.weight] : null,
    topic.kernel ? ['Kernel width', topic.kernel] : null,
    ['First active', when(topic.first)], ['Last active', when(topic.last)],
    ['Shape', shapeList(topic)],
    ['Found', topic.found],
    topic.coherence === null ? null : ['Coherence', `${topic.coherence.toFixed(2)} (NPMI, −1 to 1)`],
  ].filter(Boolean);
  return el('dl', {class: 'facts-list'}, ...rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]));
}

function renameField(topic) {
  const field = el('input', {id: 'rename', class: 'name-field', maxlength: 80, 'aria-label': `Name of topic ${topic.id}`,
    title: 'Click to rename this topic', spellcheck: 'false', on: {change: (event) => {
      const names = {...state.names};
      const name = event.target.value.trim();
      if (name && name !== topic.label) names[topic.id] = name;
      else delete names[topic.id];
      change({names});
      event.target.value = nameOf(topic);
    }}});
  field.value = nameOf(topic);
  return field;
}

const named = (id, node) => fill(node, {id}, []);

// Redrawn under the user's hands: what had the focus keeps it.
function drawCard() {
  const card = byId('card');
  const held = card.contains(document.activeElement) ? document.activeElement.id || 'card' : null;
  fillCard(card);
  if (held) (byId(held) ?? card).focus({preventScroll: true});
}

function fillCard(card) {
  const topic = topics[state.topic];
  const width = Math.max(card.clientWidth - 40, 260);
  const colour = svg('svg', {viewBox: '0 0 10 10', class: 'dot', 'aria-hidden': 'true'}, svg('circle', {cx: 5, cy: 5, r: 5, fill: colourOf(topic)}));
  const move = (step) => {
    const list = shownTopics();
    const here = list.findIndex((other) => other.id === topic.id);
    if (list.length) choose(list[(here + step + list.length) % list.length].id);
  };
  const [picture, readout] = focusChart(topic, width);
  const similar = topic.similar.map(([id, affinity]) => el('button', {type: 'button', class: 'neighbour', on: {click: () => choose(id)},
    title: `similarity of words ${affinity.toFixed(2)}`}, nameOf(topics[id])));
  card.replaceChildren(
    el('div', {class: 'card-head'}, colour, el('span', {class: 'topic-number'}, `Topic ${topic.id}`),
      el('span', {class: 'badge'}, topic.shapeName), topic.firm ? null : el('span', {class: 'badge'}, 'does not repeat'),
      el('span', {class: 'spacer'}),
      named('previous', toolButton('←', 'Previous topic', () => move(-1))),
      named('next', toolButton('→', 'Next topic', () => move(1))),
      el('button', {type: 'button', class: 'tool back', on: {click: () => byId('view').scrollIntoView()}}, 'All topics')),
    renameField(topic), picture, readout,
    el('div', {class: 'section-head'}, el('h3', {}, 'Words'), el('span', {class: 'spacer'}),
      toolButton('CSV', 'Download the words of this topic as CSV', () => download(`topic-${topic.id}-words.csv`, 'text/csv', csv(topicWordRows([topic])))),
      toolButton('SVG', 'Download the curve of this topic as SVG', () => downloadPicture(`topic-${topic.id}.svg`, picture))),
    relevanceSlider(topic), wordBars(topic),
    el('p', {class: 'note small'}, 'Bar: share of the topic’s words, with its 90 % band; tick: share of all words.'),
    el('div', {class: 'section-head'}, el('h3', {}, 'Words by period'), el('span', {class: 'spacer'}),
      toolButton('CSV', 'Download the counts of words by period as CSV', () => download(`topic-${topic.id}-periods.csv`, 'text/csv', csv(wordPeriodRows(topic))))),
    wordPeriods(topic),
    el('h3', {}, topic.quotations.some((q) => q.text !== undefined) ? 'In its own words' : 'Typical documents'), ...quotations(topic),
    el('button', {type: 'button', class: 'tool', id: 'to-documents', on: {click: () => {
      change({view: 'documents'});
      byId('view').focus();
    }}}, `Its documents${during()}, word by word`),
    el('h3', {}, 'In numbers'), facts(topic),
    similar.length ? el('h3', {}, 'Similar topics') : null, el('div', {class: 'neighbours'}, ...similar));
}

function topicWordRows(list) {
  const rows = [['topic', 'name', 'word', 'probability', 'lower_90', 'upper_90', 'share_of_all_words', 'relevance', 'lambda']];
  for (const topic of list) {
    for (const word of relevantWords(topic, state.lambda, topic.words.length)) {
      rows.push([topic.id, nameOf(topic), wordOf(word.code), word.mean, word.lower, word.upper,
        Number(commonness(word.code).toPrecision(4)), Number((word.relevance).toFixed(4)), state.lambda]);
    }
  }
  return rows;
}
