// Tells about a wrong value while it is typed, and keeps what is typed: the process has it on its disk within a second and
// answers with what is wrong, hidden or calculated now. It checks everything again on Save.
import * as panels from './panels.js';
import { released } from './press.js';
import { windowID } from './window-id.js';

function complaint(input) {
  const text = input.value.trim();
  if (text === '') return 'required' in input.dataset ? 'Enter a value.' : '';
  if (input.dataset.check === 'integer' && !/^[-\u2212+]?\d+$/.test(text)) return 'Type a whole number.';
  if (input.dataset.check === 'number' && !Number.isFinite(Number(text.replace('\u2212', '-').replace(',', '.')))) return 'Type a number.';
  const value = Number(text.replace('\u2212', '-').replace(',', '.'));
  if (input.dataset.low && value < Number(input.dataset.low)) return `${text} is less than ${input.dataset.low}, the smallest value this layer takes.`;
  if (input.dataset.high && value > Number(input.dataset.high)) return `${text} is more than ${input.dataset.high}, the largest value this layer takes.`;
  const limit = Number(input.dataset.limit ?? 0);
  if (limit > 0 && [...input.value].length > limit) return `${[...input.value].length} characters are more than the ${limit} this field holds.`;
  return '';
}

/** From four fifths of the length on, what is left of it. */
function left(input) {
  const hint = document.getElementById(input.id.replace('field-', 'hint-'));
  const limit = Number(input.dataset.limit);
  const used = [...input.value].length;
  if (!hint) return;
  const isNear = used >= limit * 0.8 && used <= limit;
  // The author's hint comes back when there is room again.
  hint.dataset.text ??= hint.textContent;
  hint.textContent = isNear ? `${limit - used} characters left` : hint.dataset.text;
  hint.hidden = hint.textContent === '';
}

function check(input) {
  const message = document.getElementById(input.id.replace('field-', 'message-'));
  if (!message) return;
  const text = complaint(input);
  message.querySelector('span').textContent = text;
  message.hidden = text === '';
  if (text) input.setAttribute('aria-invalid', 'true');
  else input.removeAttribute('aria-invalid');
}

/** The author's limits are checked by the process; only what can be said at once is said here. */
function say(input, text) {
  const message = document.getElementById(`message-${input.name.replace('field.', '')}`);
  if (!message || !('touched' in input.dataset)) return;
  message.querySelector('span').textContent = text;
  message.hidden = text === '';
  if (text) input.setAttribute('aria-invalid', 'true');
  else input.removeAttribute('aria-invalid');
}

function show(form, answer) {
  const line = document.getElementById('draft-line');
  if (line) line.textContent = `Draft kept on this device ${answer.saved}`;
  for (const part of form.querySelectorAll('[data-element]')) part.hidden = answer.hidden.includes(part.dataset.element);
  for (const part of form.querySelectorAll('[data-fixed]')) part.textContent = answer.fixed[part.dataset.fixed] ?? part.textContent;
  for (const input of form.querySelectorAll('[data-check]')) say(input, answer.messages[input.name.replace('field.', '')] ?? '');
}

let timer = 0;
let turn = 0;

async function keep(form) {
  clearTimeout(timer);
  if (!form.isConnected || form.dataset.sending) return;
  const own = turn += 1;
  try {
    const answer = await fetch(form.getAttribute('action'), {
      method: 'POST', credentials: 'same-origin', body: panels.textOf(form),
      headers: { 'Fieldwork-Fragment': 'check', 'Fieldwork-Window': windowID },
    });
    if (own !== turn || !form.isConnected) return;
    if (!answer.ok) { waits(form); return; }
    delete form.dataset.unkept;
    const told = await answer.json();
    show(form, told);
    // Other controls than before: the page is made anew from the draft, unless someone is typing in it.
    if (told.again && !form.contains(document.activeElement)) panels.reload(form);
  } catch {
    waits(form);
  }
}

/** The process is gone: what was typed stays in the page until it is back. */
function waits(form) {
  form.dataset.unkept = 'yes';
  const line = document.getElementById('draft-line');
  if (line) line.textContent = 'Only in this window so far: keep it open';
}

/** Keeps what couldn't be kept before. */
export function keepAgain() {
  for (const form of document.querySelectorAll('#panel form[data-form][data-unkept]')) keep(form);
}

export function start() {
  // A message makes the form longer: what is being pressed below it stays under the finger until the press has ended.
  document.addEventListener('focusout', (event) => {
    if (event.target.matches?.('[data-check]')) released(document.body).then(() => check(event.target));
  });
  document.addEventListener('input', (event) => {
    const form = event.target.closest?.('form[data-form]');
    if (form) {
      if (event.target.name) event.target.dataset.touched = 'yes';
      clearTimeout(timer);
      timer = setTimeout(keep, 400, form);
    }
    if (event.target.dataset?.limit) left(event.target);
    if (event.target.matches?.('[data-check][aria-invalid="true"]')) check(event.target);
  });
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 's') {
      const form = document.querySelector('#panel form[data-form]');
      if (form) { event.preventDefault(); form.requestSubmit(); }
    }
  });
}
