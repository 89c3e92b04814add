// The card of one topic: its curve, its words by relevance, quotations, neighbours.
const WORDS_SHOWN = 15;

function focusPicture(topic, width) {
  const height = 190;
  const [left, bottom, top] = [42, height - 40, 8];
  const curve = topic[state.measure];
  const most = state.scale === 'own' ? maximum(curve.upper) : cellTop(topic, state.measure);
  const x = scale(times[0], times[times.length - 1], left, width - 12);
  const y = scale(0, most || 1, bottom, top);
  const inner = curvePicture(topic, state.measure, most, {width: width - 12 - left, height: bottom - top + 3});
  inner.setAttribute('transform', `translate(${left} ${top - 2})`);
  const axis = svg('g', {class: 'axis', 'aria-hidden': 'true'});
  for (const tick of numberTicks(0, 100 * most, 5)) {
    const at = round(y(tick.at / 100));
    axis.append(svg('line', {class: 'grid', x1: left, x2: width - 12, y1: at, y2: at}),
      svg('text', {x: left - 6, y: at + 4, 'text-anchor': 'end'}, `${tick.label} %`));
  }
  const rug = svg('g', {class: 'rug', 'aria-hidden': 'true'});
  const busiest = maximum(data.time.documents) || 1;
  times.forEach((t, i) => rug.append(svg('line', {x1: round(x(t)), x2: round(x(t)), y1: height - 2,
    y2: round(height - 2 - 12 * Math.sqrt(data.time.documents[i] / busiest))})));
  const cursor = svg('line', {class: 'cursor', y1: top, y2: bottom, x1: -9, x2: -9});
  const picture = svg('svg', {class: 'focus', id: 'focus-chart', viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: 'img',
    'aria-label': `${state.measure === 'open' ? 'Probability of being open' : 'Share of words'} of topic ${topic.id} ` +
      `through time with bands; highest in ${data.time.labels[topic.peak]}. Arrow keys read values.`});
  picture.append(axis, inner, timeAxis(x, bottom, width - left, 0), rug, cursor);
  return {picture, cursor, x};
}

function focusChart(topic, width) {
  const {picture, cursor, x} = focusPicture(topic, width);
  const readout = el('p', {class: 'readout', 'aria-live': 'polite'});
  let place = topic.peak;
  const show = (i) => {
    place = clamp(i, 0, times.length - 1);
    const at = round(x(times[place]));
    cursor.setAttribute('x1', at);
    cursor.setAttribute('x2', at);
    const [open, share, documents] = saysAt(topic, place);
    readout.replaceChildren(el('b', {}, data.time.labels[place]), `: ${open}; ${share}; ${documents}`);
  };
  picture.addEventListener('pointermove', (event) => {
    const box = picture.getBoundingClientRect();
    show(nearestTime(x.inverse(((event.clientX - box.left) / box.width) * width)));
  });
  picture.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9}[event.key];
    if (step === undefined) return;
    show(place + step);
    event.preventDefault();
  });
  show(place);
  return [picture, readout];
}

function wordBars(topic) {
  const list = el('ol', {class: 'word-bars', id: 'word-bars'});
  const shown = relevantWords(topic, state.lambda, WORDS_SHOWN);
  const most = maximum(shown.map((word) => word.upper)) || 1;
  const colour = colourOf(topic);
  for (const word of shown) {
    const at = (value) => round((100 * value) / most);
    const bar = svg('svg', {viewBox: '0 0 100 14', preserveAspectRatio: 'none', class: 'word-bar', 'aria-hidden': 'true'},
      svg('rect', {class: 'track', width: 100, height: 14}),
      svg('rect', {width: at(word.mean), height: 14, fill: colour, 'fill-opacity': 0.75}),
      svg('line', {class: 'whisker', x1: at(word.lower), x2: at(word.upper), y1: 7, y2: 7}),
      svg('line', {class: 'common', x1: Math.min(at(commonness(word.code)), 99.5), x2: Math.min(at(commonness(word.code)), 99.5), y1: 0, y2: 14}));
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
function markedText(text, topic) {
  const mine = new Set(relevantWords(topic, 0.5, 25).map((word) => wordOf(word.code).toLowerCase()));
  return text.split(/([\p{L}\p{N}_]+)/u).map((part) => (mine.has(part.toLowerCase()) ? el('mark', {}, part) : part));
}

function quotations(topic) {
  return topic.quotations.map((quotation) => {
    const source = `${quotation.document === '' ? '' : /^\d+$/.test(quotation.document) ? `document ${quotation.document}` : quotation.document}, ${quotation.time}`;
    return el('figure', {class: 'quotation'},
      quotation.text === undefined ? null : el('blockquote', {dir: 'auto'}, ...markedText(quotation.text, topic)),
      el('figcaption', {}, source, el('span', {class: 'quiet-text'}, ` · ${percent(quotation.share)} of its words`)));
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
    ['First active', when(topic.first)], ['Last active', when(topic.last)],
    ['Shape', shapeList(topic)],
    ['Presence', `in ${percent(topic.presence)} of draws`],
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
      el('span', {class: 'badge'}, topic.shapeName), el('span', {class: 'spacer'}),
      named('previous', toolButton('←', 'Previous topic', () => move(-1))),
      named('next', toolButton('→', 'Next topic', () => move(1))),
      el('button', {type: 'button', class: 'tool back', on: {click: () => byId('view').scrollIntoView()}}, 'All topics')),
    renameField(topic), picture, readout,
    el('div', {class: 'section-head'}, el('h3', {}, 'Words'), el('span', {class: 'spacer'}),
      toolButton('CSV', 'Download the words of this topic as CSV', () => download(`topic-${topic.id}-words.csv`, 'text/csv', csv(topicWordRows([topic])))),
      toolButton('SVG', 'Download the curve of this topic as SVG', () => downloadPicture(`topic-${topic.id}.svg`, picture))),
    relevanceSlider(topic), wordBars(topic),
    el('p', {class: 'note small'}, 'Bar: share of the topic’s words, with its 90 % band; tick: share of all words.'),
    el('h3', {}, topic.quotations.some((q) => q.text !== undefined) ? 'In its own words' : 'Typical documents'), ...quotations(topic),
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
