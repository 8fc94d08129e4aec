// What is said to screen readers: one polite and one assertive region, in the page from the start.
const polite = document.getElementById('polite');
const assertive = document.getElementById('assertive');
let last = '';
let lastAt = 0;

export function announce(text, urgent = false) {
  if (!text) return;
  const now = performance.now();
  if (!urgent && text === last && now - lastAt < 2000) return;
  last = text;
  lastAt = now;
  const region = urgent ? assertive : polite;
  region.textContent = '';
  requestAnimationFrame(() => { region.textContent = text; });
}
