// Colour tells when: from violet, the first, to red, the last; the same in every view.
const RAMPS = {
  light: ['#5b3a8e', '#3f5fae', '#2b85a8', '#2f9378', '#6f9a35', '#bd8f1f', '#d06c2b', '#b93f3f'],
  dark: ['#ac8fe4', '#86a4f2', '#62bbdf', '#62cfae', '#a9d272', '#ecc662', '#f3a26c', '#ef857f'],
};
const darkNow = () => document.documentElement.dataset.theme === 'dark';
const ramp = () => RAMPS[darkNow() ? 'dark' : 'light'];
const colourAt = (value) => d3.piecewise(d3.interpolateRgb, ramp())(START === END ? 0.5 : clamp((value - START) / (END - START), 0, 1));
const paper = () => (darkNow() ? '#1c1e24' : '#ffffff');

// A theme that was chosen, or else that of the system.
function useTheme(chosen) {
  const dark = chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  byId('theme').textContent = dark ? 'Light' : 'Dark';
  byId('theme').setAttribute('aria-label', dark ? 'Use the light theme' : 'Use the dark theme');
}
