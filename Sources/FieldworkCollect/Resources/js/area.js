// Choosing an area: the frame stays on the screen, the map moves under it; its handles, buttons and Shift + arrows change it.
import * as panels from './panels.js';
import * as map from './map.js';
import { announce } from './live.js';
import { windowID } from './window-id.js';
import * as frames from './area-frame.js';

const view = document.getElementById('mapview');
let frame = null;
let asked = 0;
let timer = 0;

const isOpen = () => 'area' in document.getElementById('panel').dataset;
const field = (name) => document.getElementById(`area-${name}`);

/** The part of the map that no panel covers, in pixels of the map. */
function free() {
  const box = document.getElementById('map').getBoundingClientRect();
  const panel = document.getElementById('panel').getBoundingClientRect();
  const covers = panel.left <= box.left + 1 && panel.right >= box.right - 1;
  return { width: box.width, height: covers ? panel.top - box.top : box.height };
}

function place() {
  const at = frames.box(free());
  Object.assign(frame.style, { left: `${at.left}px`, top: `${at.top}px`, width: `${at.width}px`, height: `${at.height}px` });
  return at;
}

function follow() {
  const at = place();
  const high = map.instance().unproject([at.left, at.top]);
  const low = map.instance().unproject([at.left + at.width, at.top + at.height]);
  const edges = { west: Math.max(high.lng, -180), south: low.lat, east: Math.min(low.lng, 180), north: high.lat };
  frames.tell(frame, edges);
  if (!document.getElementById('area-edges').contains(document.activeElement)) {
    for (const [name, value] of Object.entries(edges)) field(name).value = value.toFixed(6);
  }
  clearTimeout(timer);
  timer = setTimeout(ask, 300);
}

async function ask() {
  if (!isOpen()) return;
  const turn = asked += 1;
  const values = Object.fromEntries(['west', 'south', 'east', 'north'].map((name) => [name, field(name).value]));
  values.extends = document.getElementById('panel').dataset.extends ?? '';
  const answer = await fetch('/data/area', {
    method: 'POST', body: new URLSearchParams(values), credentials: 'same-origin', headers: { 'Fieldwork-Window': windowID },
  });
  const target = document.getElementById('area-counts');
  // The page may have gone on while the answer was on its way.
  if (!answer.ok || turn !== asked || !target || !frame) return;
  const source = new DOMParser().parseFromString(await answer.text(), 'text/html');
  target.replaceChildren(...[...source.body.childNodes].map((node) => document.adoptNode(node)));
  const figure = target.querySelector('.area-figure');
  frame.querySelector('span').textContent = figure.querySelector('p.small.num').firstChild.textContent;
  announce(figure.dataset.says);
}

function typed() {
  const [west, south, east, north] = ['west', 'south', 'east', 'north'].map((name) => Number(field(name).value.replace('\u2212', '-')));
  if (![west, south, east, north].every(Number.isFinite) || west >= east || south >= north) return;
  ask();
}

function resize(x, y) {
  frames.scale(x, y);
  follow();
}

function keydown(event) {
  if (!isOpen() || !event.shiftKey) return;
  const sizes = { ArrowLeft: [0.9, 1], ArrowRight: [1.1, 1], ArrowDown: [1, 0.9], ArrowUp: [1, 1.1] };
  if (!sizes[event.key]) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  resize(...sizes[event.key]);
}

/** Brings an extent into the frame, above the panel where that covers the lower part: the whole of it, so the frame is as at first. */
function fit([west, south, east, north]) {
  frames.reset();
  const box = document.getElementById('map').getBoundingClientRect();
  const part = free();
  map.instance().fitBounds([[west, south], [east, north]], {
    padding: {
      left: part.width * 0.14, right: part.width * 0.14, top: part.height * 0.14, bottom: box.height - part.height * 0.86,
    }, animate: false,
  });
}

/** What the map showed comes into the frame when the panel covers a part of it. */
function keepInSight() {
  if (free().height > document.getElementById('map').getBoundingClientRect().height - 1) return;
  const shown = map.instance().getBounds();
  const [x, y] = [(shown.getEast() - shown.getWest()) * 0.12, (shown.getNorth() - shown.getSouth()) * 0.12];
  fit([shown.getWest() + x, shown.getSouth() + y, shown.getEast() - x, shown.getNorth() - y]);
}

function settle(isOpened) {
  const open = isOpen() && map.instance() !== null;
  if (!open) { frame?.remove(); frame = null; return; }
  const named = document.getElementById('panel').dataset.fit;
  document.querySelector('.area-size').hidden = false;
  const isNew = frame === null;
  if (isNew) {
    frame = frames.make(free, follow);
    view.append(frame);
    map.clearSelection();
  }
  if (named && (isNew || isOpened)) fit(named.split(',').map(Number));
  else if (isNew && isOpened) keepInSight();
  // A panel that is drawn anew, as by a search for a place, says the edges of the frame that stands; typed ones stay as they are.
  if (!document.querySelector('#area-edges[open]')) follow();
}

export function start() {
  panels.onChange((changed) => { if (changed.panel) settle(true); });
  map.instance()?.on('move', () => { if (frame) follow(); });
  document.getElementById('map').addEventListener('keydown', keydown, true);
  document.addEventListener('change', (event) => { if (event.target.closest('#area-edges')) typed(); });
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-area-size]');
    if (button) resize(Number(button.dataset.areaSize), Number(button.dataset.areaSize));
    if (event.target.closest('[data-area-all]')) {
      fit(document.getElementById('panel').dataset.whole.split(',').map(Number));
    }
  });
  settle(false);
}
