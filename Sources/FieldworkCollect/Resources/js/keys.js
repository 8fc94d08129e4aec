// Single-letter keys, from the same list that the page of keys shows. They act only when no field has the focus.
import * as panels from './panels.js';
import * as map from './map.js';

const typing = (target) => target.closest?.('input, textarea, select, [contenteditable]') !== null;

function act(binding) {
  if (binding.open) {
    const here = document.querySelector(`#panel a[href="${binding.open}"], a[href="${binding.open}"]`);
    if (here && here.offsetParent !== null) here.click();
    else panels.open(binding.open);
  } else if (binding.post) {
    panels.open(binding.post, { method: 'POST', body: new URLSearchParams({ back: location.pathname }) });
  } else if (binding.does === 'edit') {
    const link = document.querySelector('.callout a[href$="/edit"], #panel a[href$="/edit"]');
    if (link) panels.open(link.getAttribute('href'));
  } else if (binding.does === 'whole') {
    map.wholeMap();
  } else if (binding.does === 'map') {
    document.getElementById('map').focus();
  }
}

function escape() {
  if (panels.close()) return;
  if (document.querySelector('.callout, #selection .mini')) {
    map.clearSelection();
    if (location.pathname !== '/map') panels.open('/map', { only: 'selection' });
    document.getElementById('map').focus({ preventScroll: true });
  }
}

function rowKeys(event) {
  const row = event.target.closest?.('.lrow, .tbl a.open');
  if (!row) return false;
  const rows = [...row.closest('ul, table').querySelectorAll('.lrow, a.open')];
  const at = rows.indexOf(row);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return false;
  rows[Math.min(Math.max(to, 0), rows.length - 1)].focus();
  return true;
}

export async function start() {
  const answer = await fetch('/data/keys', { credentials: 'same-origin' });
  const bindings = answer.ok ? await answer.json() : [];
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented) return;
    if (event.key === 'Escape') { escape(); return; }
    if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (rowKeys(event)) { event.preventDefault(); return; }
    const binding = bindings.find((one) => one.key === event.key.toLowerCase() || one.key === event.key);
    if (!binding) return;
    event.preventDefault();
    act(binding);
  });
}
