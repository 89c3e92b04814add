// A passage with each word in the colour of the topic it most likely belongs to.
const HUES = {light: ['#1b6ca8', '#b5541c', '#2c7a4b', '#8e3a80', '#8a6d00', '#5b5b66'], dark: ['#7ab8f0', '#f0a06c', '#7fd09c', '#dc93cf', '#e3c65a', '#b9b9c4']};
const COLOURED = 5; // topics of a passage with a colour of their own; the others share the last

// Topics of a passage, the one that is read about first, then those with more words.
function passageTopics(pieces, topic) {
  const words = d3.nest().key((piece) => piece[1]).entries(pieces.filter(Array.isArray));
  return words.map(({key, values}) => ({id: Number(key), words: values}))
    .sort((a, b) => (b.id === topic.id) - (a.id === topic.id) || b.words.length - a.words.length);
}

function passage(pieces, topic) {
  const found = passageTopics(pieces, topic);
  const hues = HUES[darkNow() ? 'dark' : 'light'];
  const hueOf = (id) => hues[Math.min(found.findIndex((other) => other.id === id), COLOURED)];
  const quote = el('blockquote', {dir: 'auto', class: 'passage'}, ...pieces.map((piece) => {
    if (!Array.isArray(piece)) return piece;
    const [word, id, chance] = piece;
    const mark = el('span', {class: 'token', 'data-topic': id, on: {pointerleave: hideTip, click: () => choose(id),
      pointermove: (event) => showTip(event, [word, `topic ${id}: ${nameOf(topics[id])}`, `with probability ${chance} %`])}}, word);
    d3.select(mark).style('--hue', hueOf(id)).style('--chance', `${Math.max(chance, 20)}%`);
    return mark;
  }));
  const light = (id) => quote.querySelectorAll('.token').forEach((mark) =>
    mark.classList.toggle('lit', id !== null && Number(mark.dataset.topic) === id));
  const legend = found.slice(0, COLOURED).map(({id, words}) => {
    const button = el('button', {type: 'button', class: 'passage-topic', 'data-topic': id, 'aria-label':
      `Topic ${id}: ${nameOf(topics[id])}; ${plural(words.length, 'word')} here: ${[...new Set(words.map(([word]) => word))].join(', ')}`,
    on: {click: () => choose(id), focus: () => light(id), blur: () => light(null), pointerenter: () => light(id), pointerleave: () => light(null)}},
    el('span', {class: 'swatch', 'aria-hidden': 'true'}), nameOf(topics[id]), el('small', {}, String(words.length)));
    d3.select(button).style('--hue', hueOf(id));
    return button;
  });
  const others = d3.sum(found.slice(COLOURED), ({words}) => words.length);
  return [quote, el('div', {class: 'passage-topics'}, ...legend, others ? el('small', {}, `${plural(others, 'word')} of other topics`) : null)];
}
