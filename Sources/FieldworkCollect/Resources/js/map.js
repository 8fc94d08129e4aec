// The map: layers of the open service, picking by tap, click and key, and where it looks.
import * as panels from './panels.js';
import { announce } from './live.js';
import { released } from './press.js';
import { windowID } from './window-id.js';
import * as basemap from './basemap.js';
import { addLayers, empty, ground, leaveOut, setVisible, show, styleLayers, tileAddress } from './map-style.js';
import { onLook } from './symbols.js';

const element = document.getElementById('map');
const stage = document.querySelector('.stage');
const crosshair = document.getElementById('crosshair');
const state = { map: null, layers: [], callout: null, ready: false, pin: null, tool: null, stale: null, waits: false };
const restListeners = [];
const lookListeners = [];

export function onRest(callback) { restListeners.push(callback); }
/** Calls back when the map was drawn anew, without what others had put on it. */
export function onRestyle(callback) { lookListeners.push(callback); }
/** A tool gets the taps on the map in place of picking; null gives them back. */
export function setTool(tool) { state.tool = tool; }
export function setPinMode(pin) { state.pin = pin; crosshairVisible(); }
export function instance() { return state.map; }

/** Symbols are placed anew so many milliseconds apart while the map moves, and fade in over as many; without, in every frame. */
const placements = 100;

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const post = (address, values, headers = {}) => fetch(address, {
  method: 'POST', body: new URLSearchParams(values), credentials: 'same-origin',
  headers: { 'Fieldwork-Window': windowID, ...headers },
});

/** Metres of the Web Mercator grid per CSS pixel. */
const unitsPerPixel = () => 78271.51696402048 / 2 ** state.map.getZoom();

/** Where the pin's tip points: the middle, or higher where the sheet covers the lower part. */
export function pinPixel() {
  const box = element.getBoundingClientRect();
  const high = state.pin && matchMedia('(max-width: 839px)').matches;
  return [box.width / 2, box.height * (high ? 0.3 : 0.5)];
}

export function pinPlace() { return state.map.unproject(pinPixel()); }

/** Brings a place under the pin, or into the middle. */
export function lookAt(lon, lat, { zoom, animate = true } = {}) {
  const box = element.getBoundingClientRect();
  const pixel = pinPixel();
  const target = { center: [lon, lat], offset: [pixel[0] - box.width / 2, pixel[1] - box.height / 2], ...(zoom ? { zoom } : {}) };
  state.map.easeTo({ ...target, duration: !animate || still() ? 0 : 300 });
}

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

function showCallout(node) {
  state.callout?.remove();
  state.callout = null;
  if (!node) return;
  const wrapper = document.createElement('div');
  wrapper.className = 'marker';
  wrapper.setAttribute('role', 'presentation');
  wrapper.setAttribute('aria-label', node.getAttribute('aria-label') ?? 'Call-out');
  wrapper.append(node);
  for (const name of ['click', 'dblclick', 'mousedown', 'touchstart', 'wheel']) {
    wrapper.addEventListener(name, (event) => event.stopPropagation());
  }
  wrapper.addEventListener('click', (event) => relay(event, wrapper));
  wrapper.addEventListener('toggle', (event) => placeMenu(event.target), true);
  state.callout = new maplibregl.Marker({ element: wrapper, anchor: 'bottom', offset: [0, -22] })
    .setLngLat([Number(node.dataset.lon), Number(node.dataset.lat)]).addTo(state.map);
  if (element.contains(document.activeElement) || document.activeElement === element) {
    node.querySelector('button, summary, a')?.focus({ preventScroll: true });
  }
  keepInView(wrapper);
}

// The map must not see clicks in the call-out, but the page's own handlers must: they listen on the document.
function relay(event, wrapper) {
  const link = event.target.closest('a[data-panel]');
  if (link) { event.preventDefault(); panels.open(link.getAttribute('href')); }
  for (const menu of wrapper.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
}

// A menu opens to the side where it has room.
function placeMenu(menu) {
  const pop = menu.querySelector(':scope > .pop') ?? menu.closest('.pop');
  if (!pop) return;
  pop.classList.remove('up');
  const frame = element.getBoundingClientRect();
  if (pop.getBoundingClientRect().bottom > frame.bottom - 8) pop.classList.add('up');
}

function keepInView(wrapper) {
  requestAnimationFrame(() => {
    if (!wrapper.isConnected) return;
    // Where it is on the screen is known when the map rests.
    if (state.map.isEasing()) { state.map.once('moveend', () => keepInView(wrapper)); return; }
    const own = wrapper.getBoundingClientRect();
    const frame = element.getBoundingClientRect();
    // A panel that has come meanwhile may hide either of them: a place of nothing is no place to move the map by.
    if (own.height === 0) return;
    const mini = document.querySelector('#selection .mini')?.getBoundingClientRect();
    const low = mini?.height > 0 ? mini.top : frame.bottom;
    const right = own.right > frame.right - 8 ? own.right - frame.right + 8 : 0;
    const left = own.left < frame.left + 8 ? own.left - frame.left - 8 : 0;
    // The search and the legend lie over the map.
    const covers = [...document.querySelectorAll('.map-search, .mapview .legend')].map(part => part.getBoundingClientRect())
      .filter(box => box.height > 0 && box.left < own.right && box.right > own.left);
    const high = Math.max(frame.top + 60, ...covers.map(box => box.bottom + 8));
    const up = own.top < high ? own.top - high : 0;
    const down = own.bottom + 60 > low ? own.bottom + 60 - low : 0;
    if (right || left || up || down) state.map.panBy([right || left, up || down], { duration: still() ? 0 : 200 });
  });
}

export function clearSelection() {
  showCallout(null);
  stage.classList.remove('selected');
  document.querySelector('#selection')?.replaceChildren();
  if (state.ready) show(state.map, 'selected', empty);
  markRow(null);
}

function markRow(feature) {
  for (const row of document.querySelectorAll('#nearby .lrow')) {
    if (row.dataset.feature === feature) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
  }
}

/**
 * Shows what the page says is selected: call-out and row at once, the ring on the map when these have been drawn. A panel that is
 * about a feature, its form for one, has the ring alone.
 */
async function showSelection() {
  if (!state.ready) return;
  const selected = () => document.querySelector('#selection [data-selected]');
  const one = selected();
  const mini = one?.matches('.mini') ? one : null;
  stage.classList.toggle('selected', mini !== null);
  const place = one && [Number(one.dataset.lon), Number(one.dataset.lat)];
  // The map goes there before the call-out is brought into view: without motion it is there at once.
  if (one && !state.map.getBounds().contains(place)) lookAt(place[0], place[1], { zoom: Math.max(state.map.getZoom(), 10) });
  showCallout(mini ? document.querySelector('#selection > .callout') : null);
  markRow(mini?.dataset.selected ?? null);
  if (mini) announce(mini.dataset.announce);
  await painted();
  if (!state.ready || selected() !== one) return;
  if (!one) { showShapes(); return; }
  show(state.map, 'selected', { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: place } });
  const layer = state.layers.find((each) => String(each.id) === one.dataset.layer);
  if (layer && layer.geometry !== 'point' && one.dataset.selected) {
    const answer = await fetch(`/data/geometry/${one.dataset.selected}`, { credentials: 'same-origin' });
    if (answer.ok && selected() === one) show(state.map, 'selected', await answer.json());
  }
}

/** Shows what a panel without a selection is about: the places of a conflict. */
function showShapes() {
  const shapes = document.getElementById('panel').dataset.shapes;
  const collection = shapes ? JSON.parse(shapes) : empty;
  show(state.map, 'selected', collection);
  const bounds = new maplibregl.LngLatBounds();
  const take = (list) => { if (typeof list[0] === 'number') bounds.extend(list); else list.forEach(take); };
  for (const feature of collection.features) take(feature.geometry.coordinates);
  if (!bounds.isEmpty()) state.map.fitBounds(bounds, { maxZoom: 18, padding: 80, animate: false });
}

const ask = (address) => fetch(address, { credentials: 'same-origin' });

/** After the next frame was drawn. */
const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 0)); });

/** Whether a panel lies over all of the map. */
function isCovered() {
  const [map, panel] = [element, document.getElementById('panel')].map((one) => one.getBoundingClientRect());
  return panel.left <= map.left && panel.right >= map.right && panel.top <= map.top && panel.bottom >= map.bottom;
}

/**
 * Draws what has changed, once the page has told it: an edit is told more than once, and to draw the map takes longer than to
 * show a sentence. Under a panel it waits until the panel is gone, and before the map is there until it is.
 */
export async function refresh({ layers = false } = {}) {
  state.stale = { layers: layers || (state.stale?.layers ?? false) };
  if (state.waits) return;
  state.waits = true;
  await painted();
  state.waits = false;
  if (!state.ready || isCovered()) return;
  const stale = state.stale;
  state.stale = null;
  if (stale.layers) await refreshAll();
  else await refreshOverlay();
}

/** Draws what isn't on the server yet, and hides the older picture of it in the tiles. */
async function refreshOverlay(answer = ask('/data/overlay')) {
  if (!state.ready) return;
  const told = await answer;
  if (!told.ok) return;
  const overlay = await told.json();
  const shown = new Set(state.layers.filter((layer) => layer.visible).map((layer) => layer.id));
  show(state.map, 'unsent', { ...overlay, features: overlay.features.filter((one) => shown.has(one.properties['app:layer'])) });
  for (const layer of state.layers) {
    leaveOut(state.map, layer, overlay.hidden?.[layer.id] ?? []);
  }
}

/** Both, in an order in which nothing vanishes in between: the overlay goes when the new tiles are there. */
async function refreshAll() {
  if (!state.ready) return;
  const isNew = await refreshLayers();
  if (isNew) await Promise.race([state.map.once('idle'), new Promise((done) => { setTimeout(done, 1500); })]);
  await refreshOverlay();
}

/** Loads the tiles of layers again whose data has changed, and shows or hides layers. True when there were any. */
async function refreshLayers() {
  const answer = await ask('/data/map');
  if (!answer.ok) return false;
  let isNew = false;
  const fresh = await answer.json();
  if (state.basemap !== fresh.basemap) {
    state.basemap = fresh.basemap;
    basemap.draw(state.map, 'data-above');
  }
  for (const layer of fresh.layers) {
    const known = state.layers.find((one) => one.id === layer.id);
    if (!known) continue;
    if (known.generation !== layer.generation) {
      known.generation = layer.generation;
      isNew = true;
      state.map.getSource(`layer-${layer.id}`).setTiles([tileAddress(layer)]);
    }
    known.visible = layer.visible;
    setVisible(state.map, known);
  }
  return isNew;
}

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

async function atRest() {
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
function restSoon() {
  clearTimeout(restTimer);
  restTimer = setTimeout(atRest, 250);
}

function crosshairVisible() {
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

export function wholeMap() {
  if (state.whole) state.map.fitBounds(state.whole, { padding: 40, duration: still() ? 0 : 300 });
}

async function drawLayers(overlay) {
  addLayers(state.map, { layers: state.layers });
  state.ready = true;
  basemap.draw(state.map, 'data-above');
  await refreshOverlay(overlay);
  // What changed while the map was on its way is newer than what it was drawn from.
  if (state.stale) refresh();
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
  map.on('moveend', restSoon);
  map.on('resize', () => { if (state.stale) refresh(); });
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
