// The address of a new feature comes into its form when it is found: the form doesn't wait for it, and what is typed stays.
import * as panels from './panels.js';
import { announce } from './live.js';

let asked = null;

function write(form, told) {
  const input = form.querySelector(`[name="${CSS.escape(form.dataset.fill)}"]`);
  const note = form.querySelector('[data-fill-note]');
  const isFree = input && input.value === '' && !('touched' in input.dataset);
  if (note) note.textContent = told.address && !isFree ? '' : told.note;
  if (!told.address || !isFree) return;
  input.value = told.address;
  // The draft is kept with it.
  input.dispatchEvent(new Event('input', { bubbles: true }));
  announce(`${told.label}: ${told.address}. ${told.note}`);
}

async function fill() {
  const form = document.querySelector('#panel form[data-fill]');
  if (!form || form === asked) return;
  asked = form;
  try {
    const answer = await fetch(form.dataset.fillFrom, { credentials: 'same-origin' });
    if (answer.ok && form.isConnected) write(form, await answer.json());
  } catch {
    const note = form.querySelector('[data-fill-note]');
    if (note) note.textContent = 'The address was not found.';
  }
}

export function start() {
  panels.onChange((changed) => { if (changed.panel) fill(); });
  fill();
}
