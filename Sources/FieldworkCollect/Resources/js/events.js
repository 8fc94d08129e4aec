// What the process tells: small fragments, stale panels, changed layers, sentences to say.
import * as panels from './panels.js';
import * as map from './map.js';
import * as forms from './forms.js';
import { announce } from './live.js';
import { released } from './press.js';
import { windowID } from './window-id.js';

const stopped = document.getElementById('stopped');
let lastSign = performance.now();
let source = null;
let since = document.body.dataset.since ?? '';

const withoutRevision = (element) => element.outerHTML.replace(/ data-revision="\d*"/, '');

/** The later of two stays, and what is pressed until it is let go. */
async function exchange(old, fresh) {
  await released(old);
  if (!old.isConnected || Number(old.dataset.revision ?? 0) > Number(fresh.dataset.revision ?? 0)) return;
  if (withoutRevision(old) === withoutRevision(fresh)) {
    if (fresh.dataset.revision) old.dataset.revision = fresh.dataset.revision;
    return;
  }
  const next = document.importNode(fresh, true);
  const hadFocus = old === document.activeElement;
  old.replaceWith(next);
  if (hadFocus) next.focus({ preventScroll: true });
}

function fragment(data) {
  const fresh = new DOMParser().parseFromString(data.html, 'text/html').body.firstElementChild;
  if (!fresh) return;
  for (const old of document.querySelectorAll(`#${CSS.escape(data.target)}`)) exchange(old, fresh);
  if (data.count !== undefined) {
    for (const badge of document.querySelectorAll('[data-count].badge')) {
      badge.textContent = String(data.count);
      badge.hidden = data.count === 0;
    }
  }
}

function listen() {
  source = new EventSource(`/events?window=${windowID}&since=${since}`);
  const on = (name, callback) => source.addEventListener(name, (event) => {
    lastSign = performance.now();
    since = event.lastEventId || since;
    callback(JSON.parse(event.data));
  });
  source.addEventListener('open', () => {
    lastSign = performance.now();
    stopped.hidden = true;
    // What was typed while nothing answered is kept now.
    forms.keepAgain();
  });
  on('fragment', fragment);
  on('stale', (data) => panels.markStale(data.panels));
  on('map', (data) => map.refresh({ layers: data.layers?.length > 0 }));
  on('announce', (data) => announce(data.text, data.urgent));
  on('reset', () => { panels.markStale([panels.any]); map.refresh({ layers: true }); });
  // Somebody else works on this device now: nothing of the former person stays on the screen.
  on('left', () => { window.location.replace('/map'); });
  on('alive', () => {});
}

async function watch() {
  const silent = performance.now() - lastSign > 40000;
  if (source.readyState !== EventSource.OPEN || silent) {
    try {
      const answer = await fetch('/data/keys', { credentials: 'same-origin', cache: 'no-store' });
      if (answer.status === 403) throw new Error(panels.locked);
      if (source.readyState === EventSource.CLOSED || silent) { source.close(); lastSign = performance.now(); listen(); }
    } catch (error) {
      const why = error.message === panels.locked ? panels.locked : panels.gone;
      const text = `${why} What you typed is still here, and this page goes on when ${why === panels.locked ? 'you have' : 'it is started again'}.`;
      if (stopped.hidden || stopped.textContent !== text) announce(text, true);
      stopped.textContent = text;
      stopped.hidden = false;
    }
  }
  setTimeout(watch, 5000);
}

export function start() {
  listen();
  setTimeout(watch, 5000);
}
