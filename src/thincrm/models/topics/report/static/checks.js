// The model page of topics: held-out words, and the dates of documents.
function heldOut() {
  const {heldout} = data;
  if (!heldout) {
    return [el('p', {class: 'note'}, 'The model was fitted without held-out words (heldout=), so there is no perplexity to show.')];
  }
  return [el('p', {class: 'note'}, 'Perplexity of held-out words, with Monte Carlo standard error; lower is better.'),
    table(['model', 'perplexity', 'error', 'held-out words'], heldout)];
}

// True dates against those that the model would give.
function datesPicture(list, width) {
  const height = Math.min(width * 0.62, 300);
  const [left, bottom, top] = [74, height - 24, 8];
  const span = d3.extent(edges);
  const x = timeScale(left, width - 12, span);
  const y = timeScale(bottom, top, span);
  const middle = (b) => (edges[b] + edges[b + 1]) / 2;
  const axis = d3.axisLeft(y).ticks(5).tickSize(left - width + 12).tickPadding(6);
  if (wholeNumbers) axis.tickFormat(d3.format('d'));
  const picture = svg('svg', {class: 'dates', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img',
    'aria-label': `True and predicted dates of ${plural(list.length, 'document')}`},
  drawnAxis(axis, `${left} 0`, 'grid bare'), timeAxis(x, bottom),
  svg('line', {class: 'cursor', x1: x(span[0]), y1: y(span[0]), x2: x(span[1]), y2: y(span[1])}));
  for (const shown of list) {
    const [low, mid, high] = shown.dates.band;
    const at = x(onAxis(shown.at));
    picture.append(svg('g', {on: {pointerleave: hideTip, pointermove: (event) => showTip(event, [documentName(shown), saysDate(shown)])}},
      svg('line', {class: 'whisker', x1: at, x2: at, y1: y(edges[low]), y2: y(edges[high + 1])}),
      svg('circle', {class: 'bar-mark', cx: at, cy: y(middle(mid)), r: 4})));
  }
  return picture;
}

function modelChecks(width) {
  return [el('h3', {}, 'Does it foresee words?'), ...heldOut(), el('h3', {}, 'Does it know when a document is from?'), ...datesChecked(width)];
}

function datesChecked(width) {
  const list = data.documents.filter((shown) => shown.dates);
  if (!list.length) return [el('p', {class: 'note'}, 'All documents are of one time.')];
  const held = list.filter(({at, dates}) => periodOf(onAxis(at)) >= dates.band[0] && periodOf(onAxis(at)) <= dates.band[2]).length;
  return [el('p', {class: 'note'}, `Of ${plural(list.length, 'document')} of the fit that are quoted on this page: true time across, predicted period up, with 90 % bands; ` +
      `the true time is in the band of ${held}.`), datesPicture(list, width)];
}
