// Documents of a topic in a period: passages in the colours of topics, and the date they seem to have.
const documentName = ({name}) => (/^\d+$/.test(name) ? `document ${name}` : name);
const documentsOf = (list) => list.filter(([number]) => inPeriod(onAxis(data.documents[number].at)));
const quotedIn = (topic) => topic.quotations.filter((quotation) => inPeriod(onAxis(data.documents[quotation.document].at)));

const saysDate = ({time, dates}) => `Without its date it would be put in ${periodName(dates.band[1], dates.band[1])}, ` +
  `with 90 % probability in ${periodName(dates.band[0], dates.band[2])}; it is of ${time}.`;

// The posterior of the period, and the true time as a line.
function datePicture(shown, width) {
  const height = 74;
  const bottom = height - 20;
  const x = timeScale(10, width - 10, d3.extent(edges));
  const y = linear(0, 999, bottom, 6);
  const trueAt = x(onAxis(shown.at));
  const picture = svg('svg', {class: 'date-picture', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': saysDate(shown)});
  d3.select(picture).selectAll('rect').data(shown.dates.chance).enter().append('rect').attr('class', 'bar-mark')
    .attr('x', (_, b) => x(edges[b]) + 0.5).attr('width', (_, b) => Math.max(x(edges[b + 1]) - x(edges[b]) - 1, 1))
    .attr('y', (chance) => y(chance)).attr('height', (chance) => bottom - y(chance));
  picture.append(timeAxis(x, bottom), svg('path', {class: 'true-date', d: `M${trueAt} ${bottom}V0M${trueAt - 4} 0h8l-4 6Z`}));
  return picture;
}

function documentArticle(topic, quotation, width) {
  const shown = data.documents[quotation.document];
  return el('article', {class: 'document', 'aria-label': `${documentName(shown)}, ${shown.time}`},
    el('h3', {}, documentName(shown), el('small', {}, ` ${shown.time} · ${percent(quotation.share)} of its words are of this topic`)),
    ...(quotation.text === undefined ? [] : passage(quotation.text, topic)),
    ...(shown.dates ? [el('p', {class: 'note small'}, `When is it from? ${saysDate(shown)}`), datePicture(shown, width)] : []));
}

function drawDocuments(body) {
  const topic = topics[state.topic];
  const quoted = quotedIn(topic);
  const others = documentsOf(topic.others);
  const width = Math.max(Math.min(body.clientWidth, 640), 280);
  body.append(el('h3', {}, `Topic ${topic.id}: ${nameOf(topic)}${during()}`));
  if (!quoted.length && !others.length) {
    const words = inChosen(topic.through);
    body.append(el('p', {class: 'empty'}, words ? `The topic has ${plural(words, 'word')}${during()}; none of its typical documents is of then.`
      : `The topic has no words${during()}.`));
    return;
  }
  body.append(...quoted.map((quotation) => documentArticle(topic, quotation, width)));
  if (others.length) {
    body.append(el('h3', {}, quoted.length ? 'Further documents of this topic' : 'Documents of this topic'), table(['document', 'time', 'share of its words'],
      others.map(([number, share]) => [documentName(data.documents[number]), data.documents[number].time, percent(share)])));
  }
}

function documentRows() {
  const topic = topics[state.topic];
  const rows = [['topic', 'name', 'document', 'time', 'share', 'date_lower_90', 'date_median', 'date_upper_90']];
  for (const [number, share] of documentsOf([...topic.quotations.map((q) => [q.document, q.share]), ...topic.others])) {
    const {name, time, dates} = data.documents[number];
    const [low, middle, high] = dates?.band ?? [];
    rows.push([topic.id, nameOf(topic), name, time, share, ...(dates ? [periodStart(low), periodName(middle, middle), periodEnd(high)] : ['', '', ''])]);
  }
  return rows;
}
