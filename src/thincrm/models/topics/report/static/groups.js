// Groups: topics with words in common put together, as many groups as wanted.
const cutNow = () => data.groups.find((cut) => cut.number === state.cut);

// A group as the layers need it: its share of words through time is the sum of its topics'.
function shownGroups() {
  return cutNow().groups.map((group) => {
    const mean = times.map((_, i) => d3.sum(group.topics, (id) => topics[id].share.mean[i]));
    return {...group, name: group.words.slice(0, 3).join(', '), share: {mean}, size: group.share, peak: d3.scan(mean, d3.descending)};
  });
}

function groupLayer(group, path, picture, x) {
  return svg('path', {class: 'layer', fill: colourOf(group), d: path, on: {pointerleave: hideTip, pointermove: (event) => {
    const i = timeUnder(event, picture, x);
    showTip(event, [`${group.name} · ${data.time.labels[i]}`, `${percent(group.share.mean[i])} of words`, plural(group.topics.length, 'topic')]);
  }}});
}

const groupRow = (group) => el('li', {class: 'group'},
  el('h3', {}, el('span', {}, group.words.join(', ')), el('small', {}, ` ${percent(group.size)} of words, ${plural(group.topics.length, 'topic')}`)),
  el('div', {class: 'neighbours'}, ...group.topics.map((id) => el('button', {type: 'button', class: topics[id].firm ? 'neighbour' : 'neighbour fleeting',
    'data-topic': id, on: {click: () => choose(id)}}, nameOf(topics[id])))));

function drawGroups(body) {
  const shown = shownGroups();
  const {picture} = layeredPicture(Math.max(body.clientWidth, 280), [...shown].sort((a, b) => a.peak - b.peak), groupLayer,
    {role: 'img', 'aria-label': 'Expected share of words of each group of topics through time'});
  body.append(picture, el('ol', {class: 'groups'}, ...shown.map(groupRow)));
}

function groupRows() {
  const rows = [['group', 'group_words', 'group_share', 'topic', 'name', 'share']];
  cutNow().groups.forEach((group, place) => group.topics.forEach((id) => rows.push(
    [place, group.words.join(' '), group.share, id, nameOf(topics[id]), Number(topics[id].size.toPrecision(4))])));
  return rows;
}
