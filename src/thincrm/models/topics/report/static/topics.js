// Topics as the views need them: curves unpacked, peaks, spells, names, colours.
const TOKENS = data.corpus.tokens || 1;
const topics = data.topics.map((raw, id) => {
  const open = unpack(raw.open);
  const top = d3.max(open.mean);
  const peak = open.mean.indexOf(top);
  const spells = [];
  open.mean.forEach((value, i) => {
    if (value < top / 2) return;
    const last = spells[spells.length - 1];
    if (last && last[1] === i - 1) last[1] = i;
    else spells.push([i, i]);
  });
  const shape = d3.scan(raw.shape, d3.descending);
  return {...raw, id, open, share: unpack(raw.share), top, peak, spells, first: raw.first.map(onAxis), last: raw.last.map(onAxis), shapeName: data.shapes[shape],
    shapeChance: raw.shape[shape], size: raw.tokens / TOKENS};
});

const wordOf = (code) => data.vocabulary.words[code];
const commonness = (code) => Math.max(data.vocabulary.counts[code], 0.5) / TOKENS;

// Relevance of Sievert and Shirley (2014): λ log p(w|k) + (1 − λ) log p(w|k) / p(w), the mean count
// added to each word's in p(w), as in the tables.
function relevantWords(topic, lambda, most) {
  return topic.words
    .map(([code, mean, lower, upper]) => ({code, mean, lower, upper, relevance:
      Math.log(mean) - (1 - lambda) * Math.log((data.vocabulary.counts[code] / TOKENS + 1 / data.corpus.words) / 2)}))
    .sort((a, b) => b.relevance - a.relevance)
    .slice(0, most);
}

const ownName = (topic) => relevantWords(topic, 0.6, 3).map((word) => wordOf(word.code)).join(', ');
topics.forEach((topic) => { topic.label = ownName(topic); });
const nameOf = (topic) => state.names[topic.id] || topic.label;

const colourOf = (topic) => colourAt(times[topic.peak]);

const ORDERS = {
  size: (a, b) => sizeOf(b) - sizeOf(a),
  peak: (a, b) => times[a.peak] - times[b.peak] || b.tokens - a.tokens,
  birth: (a, b) => a.first[1] - b.first[1] || a.last[1] - b.last[1] || b.tokens - a.tokens,
  name: (a, b) => nameOf(a).localeCompare(nameOf(b)),
};

// The word that is searched for: as typed, else the most frequent that starts so, or has it inside.
const folded = data.vocabulary.words.map((word) => word.toLowerCase());
function foundWords(query) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const rank = (word) => (word === wanted ? 0 : word.startsWith(wanted) ? 1 : word.includes(wanted) ? 2 : 3);
  return folded.map((word, code) => [rank(word), code]).filter(([order]) => order < 3)
    .sort((a, b) => a[0] - b[0] || data.vocabulary.counts[b[1]] - data.vocabulary.counts[a[1]])
    .map(([, code]) => code);
}

const hasWord = (topic, code) =>
  data.vocabulary.homes[code].some(([id, share]) => id === topic.id && share >= 0.03);

function shownTopics(order = state.sort) {
  const [code] = foundWords(state.query);
  return topics
    .filter((topic) => sizeOf(topic) >= state.least)
    .filter((topic) => !state.shapes.length || state.shapes.includes(topic.shapeName))
    .filter((topic) => !state.query.trim() || (code !== undefined && hasWord(topic, code)))
    .sort(ORDERS[order]);
}
