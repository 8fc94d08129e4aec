// Panels are pages: a link or a form marked `data-panel` fetches the same address as a fragment and puts it in place.
import { announce } from './live.js';
import { released } from './press.js';
import { windowID } from './window-id.js';

const stage = document.querySelector('.stage');
const busy = document.getElementById('busy');
const listeners = [];
let current = null;
/** The panel as the process drew it, to notice when it draws the same again. */
let drawn = document.getElementById('panel').outerHTML;
/** The panels that the process called stale while something else was loaded. */
const stale = new Set();
/** Stands for every panel. */
export const any = '*';

/** Calls back with `{ panel, selection }`, true for what was replaced. */
export function onChange(callback) { listeners.push(callback); }

export function path() { return location.pathname; }

export function isMapPage() { return document.getElementById('panel')?.dataset.kind === 'nearby'; }

function replace(id, source) {
  const fresh = source.getElementById(id);
  const old = document.getElementById(id);
  if (!fresh || !old) return false;
  old.replaceWith(document.adoptNode(fresh));
  return true;
}

const controls = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** What a control does, and which of several that do the same it is. */
function controlsOf(panel) {
  const seen = new Map();
  return [...panel.querySelectorAll(controls)].map((element) => {
    const hidden = [...element.form?.querySelectorAll('input[type=hidden]:not([name=session])') ?? []].map((input) => input.value);
    const form = element.form?.getAttribute('action') ?? '';
    const key = [element.localName, element.id, element.getAttribute('href'), form, element.name, element.value, ...hidden].join('\n');
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return { element, key: `${key}\n${seen.get(key)}` };
  });
}

/** Takes the place that is read, what is folded out and the focus over into the panel that was drawn anew. */
function takeOver(old, fresh) {
  const [from, to] = [controlsOf(old), new Map(controlsOf(fresh).map(({ element, key }) => [key, element]))];
  for (const { element, key } of from) {
    if (element.localName === 'summary' && element.parentElement.open && to.has(key)) to.get(key).parentElement.open = true;
  }
  const focused = from.find(({ element }) => element === document.activeElement);
  const heading = old.contains(document.activeElement) ? fresh.querySelector('h1') : null;
  const top = old.querySelector('.pb')?.scrollTop ?? 0;
  return () => {
    ((focused && to.get(focused.key)) ?? heading)?.focus({ preventScroll: true });
    const body = fresh.querySelector('.pb');
    if (body) body.scrollTop = top;
  };
}

/** Puts the panel in place. One that is fetched again and is the same leaves what stands. */
function replacePanel(source, isAgain) {
  const fresh = source.getElementById('panel');
  const old = document.getElementById('panel');
  if (!fresh || !old) return false;
  const text = fresh.outerHTML;
  if (isAgain && text === drawn) return false;
  const finish = isAgain && fresh.dataset.kind === old.dataset.kind ? takeOver(old, fresh) : () => {};
  drawn = text;
  old.replaceWith(document.adoptNode(fresh));
  finish();
  return true;
}

/** What a form holds besides files. */
export function textOf(form, submitter = null) {
  return new URLSearchParams([...new FormData(form, submitter)].filter(([, value]) => typeof value === 'string'));
}

function settle(changed, focus) {
  const panel = document.getElementById('panel');
  stage.dataset.kind = panel.dataset.kind;
  if (panel.dataset.title) document.title = panel.dataset.title;
  for (const tab of document.querySelectorAll('.tab[data-tab]')) {
    if (tab.dataset.tab === panel.dataset.tab) tab.setAttribute('aria-current', 'page');
    else tab.removeAttribute('aria-current');
  }
  if (changed.panel && focus && panel.dataset.kind !== 'nearby') {
    const wanted = panel.querySelector('[aria-invalid="true"]') ?? panel.querySelector('[data-focus]');
    (wanted ?? panel.querySelector('h1'))?.focus({ preventScroll: !wanted });
  }
  // A form that was saved or cancelled took the focus along: it goes on at the map, and from there into the call-out.
  if (changed.panel && focus && panel.dataset.kind === 'nearby' && document.activeElement === document.body) {
    document.getElementById('map').focus({ preventScroll: true });
  }
  for (const note of document.querySelectorAll('#over [data-announce]')) announce(note.dataset.announce, 'urgent' in note.dataset);
  for (const callback of listeners) callback(changed);
}

/** Says over the panel and the map what went wrong, or with `tone: 'wn'` what takes its time. Gives the note. */
export function tell(text, { tone = 'bd' } = {}) {
  const note = document.createElement('div');
  note.className = `note ${tone} over-note`;
  const words = document.createElement('div');
  words.className = 'grow';
  words.textContent = text;
  note.append(words);
  document.getElementById('over').replaceChildren(note);
  announce(text, true);
  return note;
}

export const gone = 'Fieldwork is not running on this device.';
export const locked = 'This page has no valid key any more. Open the address that Fieldwork printed when it started, in another tab.';
const kept = 'What you typed is still here.';

/** The key isn't valid: the page that explains it takes the place of this one, unless something typed would go with it. */
export function lockedOut(isWrite = false) {
  const text = `${locked} ${kept} Then save again.`;
  if (!isWrite && !isTyped()) location.assign('/');
  else if (document.querySelector('#over .over-note')?.textContent !== text) tell(text);
}

/** Why a form wasn't saved, from the page that was answered in its place. */
function reason(source) {
  const words = source.querySelector('#panel .note, main p')?.textContent.replace(/\s+/g, ' ').trim();
  return `Not saved. ${words ? `${words} ` : ''}${kept}`;
}

const showSoon = () => setTimeout(() => { busy.hidden = false; }, 200);

/** Shows that something is waited for, when it takes its time. */
export async function waiting(work) {
  const patience = showSoon();
  try {
    return await work;
  } finally {
    clearTimeout(patience);
    if (!current) busy.hidden = true;
  }
}

/**
 * Opens an address as a fragment. `only: 'selection'` leaves the panel as it is, for picking features on the map.
 * With `unless` it is the same page again, which nobody asked for: it isn't put in place if that has come true meanwhile.
 * `answer` is what the address has answered already. `form` is what was saved: it stays with what was typed into it when the answer
 * is neither its success nor the form again. Resolves to true when the page now shows the address.
 */
export async function open(address, options = {}) {
  const { method = 'GET', body = null, push = true, only = 'panel', focus = true, unless = null, answer = null, form = null } = options;
  current?.abort();
  const ours = current = new AbortController();
  const patience = showSoon();
  try {
    const response = answer ?? await fetch(address, {
      method, body, signal: method === 'GET' ? ours.signal : undefined, credentials: 'same-origin',
      headers: { 'Fieldwork-Fragment': only, 'Fieldwork-Window': windowID },
    });
    if (response.status === 403) { lockedOut(method !== 'GET'); return false; }
    const text = await response.text();
    const at = new URL(response.url);
    const typed = form?.matches('[data-form]') ?? false;
    if (!(response.headers.get('Content-Type') ?? '').startsWith('text/html')) throw new TypeError('not a page');
    const source = new DOMParser().parseFromString(text, 'text/html');
    if (typed && !response.ok && source.querySelector('#panel form[data-form]') === null) { tell(reason(source)); return false; }
    if (response.headers.get('Fieldwork-Fragment') === null) { location.assign(at.pathname + at.search); return false; }
    // The list beside the map stays while it loads anew: an empty one in between would only flicker.
    const kind = (from) => from.getElementById('panel')?.dataset.kind;
    const stays = kind(source) === 'nearby' && kind(document) === 'nearby';
    for (const part of [document.getElementById('panel'), document.getElementById('over'), document.getElementById('selection')]) await released(part);
    if ((method === 'GET' && ours.signal.aborted) || unless?.()) return false;
    const isAgain = unless !== null;
    const changed = {
      panel: !stays && replacePanel(source, isAgain), selection: !isAgain && replace('selection', source), written: method !== 'GET',
    };
    // A toast with its way back isn't taken away by what others do.
    if (!isAgain) replace('over', source);
    at.searchParams.delete('edit');
    at.searchParams.delete('discarded');
    const shown = at.pathname + at.search;
    if (response.ok && push && shown !== location.pathname + location.search) history.pushState(null, '', shown);
    settle(changed, focus);
    return response.ok;
  } catch (error) {
    if (error.name === 'AbortError') return false;
    tell(`${gone} ${kept}`);
    return false;
  } finally {
    clearTimeout(patience);
    if (current === ours) { current = null; busy.hidden = true; catchUp(); }
  }
}

function again(unless) {
  // What the user asked for goes first: it is never broken off for a panel that has changed.
  if (current || unless()) return;
  open(location.pathname + location.search, { push: false, focus: false, unless });
}

/** Fetches a form that has other controls than before, unless something in it is being typed. */
export function reload(form) { again(() => !form.isConnected || form.contains(document.activeElement)); }

/** Whether something in the panel was typed or chosen that a new one wouldn't have. */
function isTyped() {
  const panel = document.getElementById('panel');
  if (panel.querySelector('form[data-form]') || panel.dataset.pin || 'area' in panel.dataset || 'sketch' in panel.dataset) return true;
  return [...panel.querySelectorAll('input:not([type=hidden]), textarea')]
    .some((input) => input.value !== input.defaultValue || input.checked !== input.defaultChecked);
}

/** Fetches the panel again when it is one of these; later, while something else is on its way. */
export function markStale(names) {
  for (const name of names) stale.add(name);
  if (!current) catchUp();
}

function catchUp() {
  const name = document.getElementById('panel').dataset.stale ?? '';
  const isStale = stale.has(name) || stale.has(any);
  stale.clear();
  if (isStale) again(isTyped);
}

/** Closes the topmost thing that is open: menu, toast, panel. Resolves to false when nothing was. */
export function close() {
  const menus = [...document.querySelectorAll('details.menu[open]')];
  if (menus.length > 0) {
    const menu = menus.at(-1);
    menu.open = false;
    menu.querySelector('summary').focus();
    return true;
  }
  const back = document.querySelector('#panel [data-close]');
  if (back?.matches('button')) { back.click(); return true; }
  if (back) { open(back.getAttribute('href')); return true; }
  return false;
}

document.addEventListener('click', (event) => {
  const dismiss = event.target.closest('[data-dismiss]');
  if (dismiss) { dismiss.closest('.toast, .note')?.remove(); return; }
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const link = event.target.closest('a[data-panel]');
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const address = link.getAttribute('href');
  const picks = link.dataset.feature && isMapPage();
  open(address, { only: picks ? 'selection' : 'panel' });
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.matches('form[data-panel]') || event.defaultPrevented) return;
  event.preventDefault();
  if (form.dataset.sending) return;
  form.dataset.sending = 'yes';
  const all = new FormData(form, event.submitter);
  const body = [...all.values()].some((value) => value instanceof File && value.size > 0) ? all : textOf(form, event.submitter);
  const address = form.getAttribute('action');
  const sent = form.method === 'get' ? open(`${address}?${body}`, { push: true }) : open(address, { method: 'POST', body, form });
  sent.finally(() => { delete form.dataset.sending; });
});

document.addEventListener('change', (event) => {
  const form = event.target.closest('form[data-auto]');
  if (!form) return;
  if ('reload' in form.dataset) form.submit();
  else form.requestSubmit();
});

window.addEventListener('popstate', () => open(location.pathname + location.search, { push: false }));

export function start() {
  document.documentElement.classList.add('script');
  history.replaceState(null, '', (() => {
    const at = new URL(location.href);
    at.searchParams.delete('edit');
    at.searchParams.delete('discarded');
    return at.pathname + at.search;
  })());
  settle({ panel: true, selection: true }, false);
}
