// The map: layers of the open service, drawn by the map library. What taps do, what is selected, where it rests and what is drawn
// anew stand in modules of their own; other modules come in here.
import * as basemap from './basemap.js';
import { still } from './map-camera.js';
import { isStale, refresh, refreshOverlay } from './map-redraw.js';
import { atRest, restSoon } from './map-rest.js';
import { showSelection } from './map-selection.js';
import { ask, element, painted, state } from './map-state.js';
import { addLayers, ground } from './map-style.js';
import { crosshairVisible, listen } from './map-taps.js';
import * as panels from './panels.js';
import { onLook } from './symbols.js';

export { lookAt, pinPixel, pinPlace, wholeMap } from './map-camera.js';
export { refresh } from './map-redraw.js';
export { onRest } from './map-rest.js';
export { clearSelection } from './map-selection.js';

/** Symbols are placed anew so many milliseconds apart while the map moves, and fade in over as many; without, in every frame. */
const placements = 100;

const lookListeners = [];

/** Calls back when the map was drawn anew, without what others had put on it. */
export function onRestyle(callback) { lookListeners.push(callback); }
/** A tool gets the taps on the map in place of picking; null gives them back. */
export function setTool(tool) { state.tool = tool; }
export function setPinMode(pin) { state.pin = pin; crosshairVisible(); }
export function instance() { return state.map; }

async function drawLayers(overlay) {
  addLayers(state.map, { layers: state.layers });
  state.ready = true;
  basemap.draw(state.map, 'data-above');
  await refreshOverlay(overlay);
  // What changed while the map was on its way is newer than what it was drawn from.
  if (isStale()) refresh();
}

/** Draws the map anew in the colours of another look. */
async function restyle() {
  if (!state.ready) return;
  state.ready = false;
  state.map.setStyle(ground(state), { diff: false });
  await state.map.once('style.load');
  await drawLayers();
  showSelection();
  for (const callback of lookListeners) callback();
}

function note(text) {
  const line = document.getElementById('map-note');
  line.textContent = text;
  line.hidden = false;
}

/** The map library, after the page has been drawn without it: it is ten times as much script as all else. */
async function library() {
  await painted();
  const script = document.createElement('script');
  script.src = new URL('../maplibre/maplibre-gl.js', import.meta.url);
  await new Promise((done) => {
    script.addEventListener('load', done);
    script.addEventListener('error', done);
    document.head.append(script);
  });
  return typeof maplibregl !== 'undefined';
}

/** The map is there to be used: the features in view are drawn, and listed. */
async function settle(map, drawn, listed) {
  // A service that takes its time does not hold up what else the page can do.
  const patience = new Promise((done) => { setTimeout(done, 3000); });
  await Promise.allSettled([listed, Promise.race([drawn, patience])]);
  document.documentElement.dataset.map = 'ready';
  map.on('idle', () => { document.documentElement.dataset.mapIdle = String(Number(document.documentElement.dataset.mapIdle ?? 0) + 1); });
}

/** Resolves when the layers are on the map, or when there is none. */
export async function start() {
  const [known, overlay] = [ask('/data/map'), ask('/data/overlay')];
  if (!await library()) { note('The map library is not installed. The list shows the same features.'); return; }
  const answer = await known;
  if (!answer.ok) { note('The map did not load. The list may still work.'); return; }
  const document_ = await answer.json();
  state.layers = document_.layers;
  state.whole = document_.whole;
  state.hasPictures = document_.hasPictures;
  state.basemap = document_.basemap;
  const view = document_.view;
  const map = state.map = new maplibregl.Map({
    container: element, style: ground(state), attributionControl: false, keyboard: false, dragRotate: false, pitchWithRotate: false,
    touchPitch: false, fadeDuration: still() ? 0 : placements, maxZoom: 21, maxPitch: 0, renderWorldCopies: true,
    ...(view ? { center: [view.lon, view.lat], zoom: view.zoom } : { bounds: document_.whole, fitBoundsOptions: { padding: 40 } }),
  });
  const drawn = map.once('load');
  map.touchZoomRotate.disableRotation();
  listen(map);
  map.on('moveend', restSoon);
  map.on('resize', () => { if (isStale()) refresh(); });
  map.on('error', (event) => { if (event.error?.status === 403) panels.lockedOut(); });
  const listed = atRest();
  await map.once('style.load');
  await drawLayers(overlay);
  onLook(restyle);
  panels.onChange((changed) => {
    if (changed.selection) showSelection();
    if (changed.panel || changed.written) { refresh({ layers: true }); if (panels.isMapPage()) restSoon(); }
  });
  showSelection();
  settle(map, drawn, listed);
}
