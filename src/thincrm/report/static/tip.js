// What is under the pointer: a small box beside it.
function showTip(event, lines) {
  const tip = byId('tip');
  tip.replaceChildren(...lines.map((line, i) => el('div', {class: i ? 'tip-line' : 'tip-head'}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10 : event.clientX + 14;
  const top = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${Math.max(top, 4)}px`;
}
const hideTip = () => { byId('tip').hidden = true; };
