// Choosing a place: the pin stays in the middle, the map moves beneath it.
import * as panels from './panels.js';
import * as map from './map.js';
import { announce } from './live.js';
import { empty, show } from './map-style.js';
import { released } from './press.js';
import { windowID } from './window-id.js';

const pin = document.getElementById('pin');
const banner = document.getElementById('banner');
let origin = null;
let asked = 0;

const fields = () => ({ lat: document.getElementById('place-lat'), lon: document.getElementById('place-lon') });
const degrees = (value) => value.toFixed(9);
const spoken = (value) => value.toFixed(6).replace('-', '\u2212');

function length(a, b) {
  const mean = (a.lat + b.lat) * Math.PI / 360;
  const north = (b.lat - a.lat) * 111195;
  const east = (b.lng - a.lng) * 111195 * Math.cos(mean);
  const metres = Math.hypot(north, east);
  const names = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'];
  const way = names[Math.round(((Math.atan2(east, north) * 180 / Math.PI) + 360) % 360 / 45) % 8];
  if (metres < 0.05) return 'Not moved yet';
  const text = metres >= 1000 ? `${(metres / 1000).toFixed(1)} km` : metres >= 10 ? `${Math.round(metres)} m` : `${metres.toFixed(1)} m`;
  return `${text} ${way}`;
}

function follow() {
  const place = map.pinPlace();
  const { lat, lon } = fields();
  if (!lat || lat === document.activeElement || lon === document.activeElement) return;
  lat.value = degrees(place.lat);
  lon.value = degrees(place.lng);
  document.getElementById('pin-facts').hidden = false;
  document.getElementById('pin-at').textContent = `${spoken(place.lat)}, ${spoken(place.lng)}`;
  if (!origin) return;
  document.getElementById('pin-moved-row').hidden = false;
  document.getElementById('pin-moved').textContent = length(origin, place);
  const line = { type: 'LineString', coordinates: [[origin.lng, origin.lat], [place.lng, place.lat]] };
  show(map.instance(), 'move', { type: 'Feature', properties: {}, geometry: line });
}

async function askNear() {
  const panel = document.getElementById('panel');
  if (!panel.dataset.pin || !panel.dataset.layer) return;
  const turn = asked += 1;
  const place = map.pinPlace();
  const answer = await fetch('/data/near-pin', {
    method: 'POST', credentials: 'same-origin', headers: { 'Fieldwork-Window': windowID },
    body: new URLSearchParams({ layer: panel.dataset.layer, lon: place.lng, lat: place.lat, except: panel.dataset.pin === 'move' ? location.pathname : '' }),
  });
  await released(document.getElementById('pin-near'));
  const target = document.getElementById('pin-near');
  if (!answer.ok || turn !== asked || !target) return;
  const source = new DOMParser().parseFromString(await answer.text(), 'text/html');
  target.replaceChildren(...[...source.body.childNodes].map((node) => document.adoptNode(node)));
  announce(`Pin at ${document.getElementById('pin-at').textContent}. ${target.querySelector('.note')?.textContent ?? ''}`);
}

function typed() {
  const { lat, lon } = fields();
  const place = [Number(lon.value.replace('\u2212', '-')), Number(lat.value.replace('\u2212', '-'))];
  if (place.every(Number.isFinite) && Math.abs(place[1]) <= 85 && Math.abs(place[0]) <= 180) map.lookAt(place[0], place[1]);
}

function settle() {
  const panel = document.getElementById('panel');
  const mode = panel.dataset.pin ?? null;
  map.setPinMode(mode);
  pin.toggleAttribute('hidden', mode === null);
  banner.hidden = mode === null;
  const view = map.instance();
  if (!view) return;
  if (mode === null) {
    origin = null;
    if (view.getSource('move')) show(view, 'move', empty);
    return;
  }
  map.clearSelection();
  if (panel.dataset.lon) {
    const at = { lng: Number(panel.dataset.lon), lat: Number(panel.dataset.lat) };
    origin = mode === 'move' ? at : null;
    map.lookAt(at.lng, at.lat, { animate: false });
  }
  for (const field of Object.values(fields())) field.addEventListener('change', typed);
  document.getElementById('map').focus({ preventScroll: true });
  follow();
  askNear();
}

export function start() {
  map.onRestyle(() => { if (document.getElementById('panel').dataset.pin) follow(); });
  panels.onChange((changed) => { if (changed.panel) settle(); });
  map.instance()?.on('move', () => { if (document.getElementById('panel').dataset.pin) follow(); });
  map.onRest(askNear);
  settle();
}
