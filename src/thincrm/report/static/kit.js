// Small tools: elements made from text that stays text, numbers as people write them, downloads.
const data = JSON.parse(document.getElementById('data').textContent);
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const SVG = 'http://www.w3.org/2000/svg';
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const count = d3.format(',');
const plural = (n, one) => `${count(n)} ${one}${n === 1 ? '' : 's'}`;

function percent(x) {
  const p = 100 * x;
  if (p === 0) return '0 %';
  if (p < 0.01) return '< 0.01 %';
  return `${p < 0.1 ? p.toFixed(2) : p < 9.95 ? p.toFixed(1) : p.toFixed(0)} %`;
}

// What a spreadsheet would take for a formula gets an apostrophe, also behind a sign at which it may
// cut: quotation marks do not keep a cell together where another sign than the comma ends the one before.
function csvCell(value) {
  if (typeof value === 'number') return String(value);
  let text = String(value ?? '').replace(/([;|\t])(?=[=+\-@])/g, "$1'");
  if (/^[=+\-@\t\r\n]/.test(text)) text = `'${text}`;
  return /[",;|\t\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
const csv = (rows) => rows.map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  const link = el('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const PAINT = {fill: '', 'fill-opacity': '1', stroke: 'none', 'stroke-width': '1px', 'stroke-dasharray': 'none',
  'stroke-linejoin': 'miter', opacity: '1', 'shape-rendering': 'auto'};
const TYPE = {'font-family': '', 'font-size': '', 'font-weight': '400', 'text-anchor': 'start', 'paint-order': 'normal'};

// A picture that looks the same elsewhere: what the style sheet says becomes attributes.
function downloadPicture(name, picture) {
  const copy = picture.cloneNode(true);
  const from = [picture, ...picture.querySelectorAll('*')];
  [copy, ...copy.querySelectorAll('*')].forEach((node, i) => {
    const style = getComputedStyle(from[i]);
    for (const [property, usual] of Object.entries(node.tagName === 'text' ? {...PAINT, ...TYPE} : PAINT)) {
      const value = style.getPropertyValue(property);
      if (value === usual || node.tagName === 'g') node.removeAttribute(property);
      else node.setAttribute(property, value);
    }
    for (const unused of ['class', 'tabindex', 'role']) node.removeAttribute(unused);
  });
  const box = picture.viewBox.baseVal;
  copy.setAttribute('xmlns', SVG);
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  copy.prepend(svg('rect', {x: box.x, y: box.y, width: box.width, height: box.height,
    fill: getComputedStyle(byId('view')).backgroundColor}));
  download(name, 'image/svg+xml', new XMLSerializer().serializeToString(copy));
}

const toolButton = (text, label, act) =>
  el('button', {type: 'button', class: 'tool', 'aria-label': label, title: label, on: {click: act}}, text);

// One item of many is reached by Tab, the others by arrow keys; Enter and Space choose.
function roving(box, items, choose, columns = () => 1) {
  const focus = (item) => {
    for (const other of items) other.setAttribute('tabindex', other === item ? '0' : '-1');
    item.focus();
    item.scrollIntoView({block: 'nearest'});
  };
  const first = items.find((item) => item.getAttribute('aria-selected') === 'true') ?? items[0];
  for (const item of items) item.setAttribute('tabindex', item === first ? '0' : '-1');
  box.addEventListener('keydown', (event) => {
    const here = items.indexOf(event.target.closest('[role=option], [role=tab]'));
    if (here < 0) return;
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns(), ArrowUp: -columns(),
      Home: -items.length, End: items.length}[event.key];
    if (step !== undefined) focus(items[clamp(here + step, 0, items.length - 1)]);
    else if (event.key === 'Enter' || event.key === ' ') choose(items[here]);
    else return;
    event.preventDefault();
  });
}
