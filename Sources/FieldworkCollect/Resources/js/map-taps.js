// Taps, clicks and keys on the map: what lies there is asked for, and shown.
import { announce } from './live.js';
import { showCallout } from './map-callout.js';
import { lookAt, still, unitsPerPixel } from './map-camera.js';
import { clearSelection } from './map-selection.js';
import { element, post, state } from './map-state.js';
import { styleLayers } from './map-style.js';
import * as panels from './panels.js';

const crosshair = document.getElementById('crosshair');

async function identify(at, pixels) {
  const only = panels.isMapPage() ? 'selection' : 'panel';
  const asked = { lon: at.lng, lat: at.lat, tolerance: pixels * unitsPerPixel(), zoom: state.map.getZoom() };
  const answer = await answered(panels.waiting(post('/data/identify', asked, { 'Fieldwork-Fragment': only })));
  if (!answer) return;
  if (answer.redirected) { await panels.open(answer.url, { only, answer }); return; }
  const wasOpen = state.callout !== null || document.querySelector('#selection .mini') !== null;
  clearSelection();
  if (wasOpen) { if (panels.path() !== '/map') panels.open('/map', { only: 'selection' }); return; }
  const source = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('.callout');
  if (!source) return;
  showCallout(document.adoptNode(source));
  announce('Nothing here. Create feature.');
}

/** How long a tap waits for an answer before the page says that it does, in milliseconds. */
const patience = 700;

/** The answer to a tap; nothing when there was none, which the page then says. */
async function answered(asking) {
  let note = null;
  const timer = setTimeout(() => { note = panels.tell('The server hasn\u2019t answered yet. Still asking.', { tone: 'wn' }); }, patience);
  try {
    const answer = await asking;
    if (answer.ok) return answer;
    if (answer.status === 403) panels.lockedOut();
    else panels.tell((await answer.text()) || 'The server doesn\u2019t answer.');
  } catch {
    panels.tell(panels.gone);
  } finally {
    clearTimeout(timer);
    note?.remove();
  }
  return null;
}

export function crosshairVisible() {
  // An SVG element has no `hidden` property.
  crosshair.toggleAttribute('hidden', state.tool ? false : state.pin !== null || !element.matches(':focus-visible'));
}

function keydown(event) {
  if (event.altKey || event.metaKey || event.target !== element) return;
  const box = element.getBoundingClientRect();
  const step = event.ctrlKey ? Math.min(box.width, box.height) : event.shiftKey ? 10 : 100;
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
  const duration = still() ? 0 : 150;
  if (moves[event.key]) state.map.panBy(moves[event.key], { duration });
  else if (event.key === '+' || event.key === '=') state.map.zoomIn({ duration });
  else if (event.key === '-') state.map.zoomOut({ duration });
  else if (event.key === 'Enter' && state.pin) document.getElementById('place-form')?.requestSubmit();
  else if (event.key === 'Enter') identify(state.map.getCenter(), 22);
  else return;
  event.preventDefault();
}

/** Tells by the pointer's look what can be picked; once a frame, and not while the map is dragged. */
function pointAt(map, canvas) {
  let at = null;
  const look = () => {
    const place = at;
    at = null;
    if (!state.ready || state.pin || state.tool) return;
    const layers = state.layers.flatMap((layer) => styleLayers(map, layer));
    canvas.style.cursor = map.queryRenderedFeatures(place, { layers }).length > 0 ? 'pointer' : '';
  };
  map.on('mousemove', (event) => {
    if (event.originalEvent.buttons !== 0) return;
    if (!at) requestAnimationFrame(look);
    at = event.point;
  });
}

/** Listens for taps and keys. */
export function listen(map) {
  const canvas = map.getCanvas();
  canvas.setAttribute('tabindex', '-1');
  canvas.setAttribute('aria-hidden', 'true');
  element.addEventListener('keydown', keydown);
  element.addEventListener('focus', crosshairVisible);
  element.addEventListener('blur', crosshairVisible);
  document.getElementById('zoom-buttons').hidden = false;
  document.getElementById('zoom-in').addEventListener('click', () => map.zoomIn({ duration: still() ? 0 : 200 }));
  document.getElementById('zoom-out').addEventListener('click', () => map.zoomOut({ duration: still() ? 0 : 200 }));
  let touch = false;
  canvas.addEventListener('pointerdown', (event) => { touch = event.pointerType !== 'mouse'; });
  map.on('click', (event) => {
    if (state.tool) { state.tool(event); return; }
    if (state.pin) { lookAt(event.lngLat.lng, event.lngLat.lat); return; }
    identify(event.lngLat, touch ? 22 : 10);
  });
  map.on('dblclick', () => showCallout(document.querySelector('#selection > .callout')));
  pointAt(map, canvas);
}
