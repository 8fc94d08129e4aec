// Where the map rests: the scale, the list of what is in view, and who else wants to know.
import { announce } from './live.js';
import { unitsPerPixel } from './map-camera.js';
import { markRow } from './map-selection.js';
import { element, post, state } from './map-state.js';
import { released } from './press.js';

const restListeners = [];

export function onRest(callback) { restListeners.push(callback); }

function scaleBar() {
  const scale = document.getElementById('scale');
  const perPixel = unitsPerPixel() * Math.cos(state.map.getCenter().lat * Math.PI / 180);
  const most = perPixel * 96;
  const power = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((n) => n * power).find((n) => n <= most) ?? power;
  scale.querySelector('span').textContent = length >= 1000 ? `${length / 1000} km` : length >= 1 ? `${length} m` : `${Math.round(length * 100)} cm`;
  scale.querySelector('i').style.width = `${length / perPixel}px`;
  scale.hidden = false;
}

export async function atRest() {
  scaleBar();
  const bounds = state.map.getBounds();
  const centre = state.map.getCenter();
  const answer = await post('/data/view', {
    west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth(),
    lon: centre.lng, lat: centre.lat, zoom: state.map.getZoom(),
  });
  if (answer.ok) await showNearby(await answer.text());
  for (const callback of restListeners) callback();
}

async function showNearby(html) {
  await released(document.getElementById('nearby'));
  const target = document.getElementById('nearby');
  if (!target || target.contains(document.activeElement)) return;
  const source = new DOMParser().parseFromString(html, 'text/html');
  target.replaceChildren(...[...source.body.childNodes].map((node) => document.adoptNode(node)));
  const count = target.querySelector('[data-count]')?.dataset.count ?? '';
  document.getElementById('nearby-count').textContent = count;
  markRow(document.querySelector('#selection .mini')?.dataset.selected ?? null);
  if (document.activeElement === element) announce(`${count}. ${document.querySelector('#scale span').textContent} scale.`);
}

let restTimer = 0;
export function restSoon() {
  clearTimeout(restTimer);
  restTimer = setTimeout(atRest, 250);
}
