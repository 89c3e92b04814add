// Curves fade where documents are few: fewer than five within a tenth of the time, nearer ones counting more.
const ENOUGH = 5;
const REACH = (END - START) / 10 || 1;
const solid = times.map((t) => {
  const near = d3.sum(times, (other, i) => data.time.documents[i] * Math.max(1 - Math.abs(other - t) / REACH, 0));
  return 0.2 + 0.8 * Math.min(near / ENOUGH, 1);
});
const fades = solid.some((value) => value < 1);
const turns = solid.map((_, i) => i).filter((i) => solid[i] !== solid[i - 1] || solid[i] !== solid[i + 1]);
let masks = 0;

// Put marks that lie between 0 and `height` along the time scale x into a group that fades.
function faded(x, height, ...marks) {
  const group = svg('g');
  if (fades) {
    masks += 1;
    const [left, right] = x.range();
    group.setAttribute('mask', `url(#mask-${masks})`);
    group.append(
      svg('linearGradient', {id: `fade-${masks}`, gradientUnits: 'userSpaceOnUse', x1: x(START), x2: x(END), y1: 0, y2: 0},
        ...turns.map((i) => svg('stop', {offset: (x(times[i]) - x(START)) / (x(END) - x(START) || 1), 'stop-color': '#fff', 'stop-opacity': solid[i]}))),
      svg('mask', {id: `mask-${masks}`, maskUnits: 'userSpaceOnUse', x: left, y: -4, width: right - left, height: height + 8},
        svg('rect', {x: left, y: -4, width: right - left, height: height + 8, fill: `url(#fade-${masks})`})));
  }
  group.append(...marks);
  return group;
}
