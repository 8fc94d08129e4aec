// Where one stands: the browser's own place, asked for only when a button that wants it is pressed.
import * as map from './map.js';
import * as panels from './panels.js';
import { announce } from './live.js';
import { empty, show } from './map-style.js';
import { colour } from './symbols.js';

/** A place is old after so many milliseconds. */
const fresh = 30000;
/** Metres beyond which a place says little about a tree. */
const poor = 50;
const watch = { maximumAge: 2000, timeout: 20000, enableHighAccuracy: true };

const state = { watch: null, at: null, follows: false, timer: 0 };
const button = document.getElementById('locate');
const fact = document.getElementById('locate-fact');

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const isOld = () => state.at !== null && Date.now() - state.at.time > fresh;

function problem(error) {
  if (error.code === 1) return 'Location is off in this browser. Allow it for this page: press the sign beside the address, then Location.';
  if (error.code === 3) return 'No place yet. Go where the sky is open, then try again.';
  return 'This device doesn\u2019t know where it is.';
}

/** The place where one stands now, asked for once. */
export function here() {
  if (state.at && !isOld()) return Promise.resolve(state.at);
  return new Promise((done, fail) => {
    if (!navigator.geolocation) { fail(new Error('This browser doesn\u2019t tell where it is.')); return; }
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => done({ lon: coords.longitude, lat: coords.latitude, accuracy: coords.accuracy, time: Date.now() }),
      (error) => fail(new Error(problem(error))), watch);
  });
}

/** A circle on the ground: metres on the sphere. */
function ring({ lon, lat, accuracy }) {
  const north = accuracy / 111195;
  const east = north / Math.max(Math.cos(lat * Math.PI / 180), 0.01);
  const points = Array.from({ length: 65 }, (_, index) => {
    const turn = index * Math.PI / 32;
    return [lon + east * Math.cos(turn), lat + north * Math.sin(turn)];
  });
  return { type: 'Feature', properties: { kind: 'ring' }, geometry: { type: 'Polygon', coordinates: [points] } };
}

const metres = (length) => (length >= 1000 ? `${(length / 1000).toFixed(1)} km` : `${Math.max(1, Math.round(length))} m`);

function look() {
  const view = map.instance();
  if (!view?.getSource('me')) return;
  if (!state.at) {
    show(view, 'me', empty);
    fact.hidden = true;
    return;
  }
  const old = isOld();
  const point = { type: 'Feature', properties: { kind: 'dot' }, geometry: { type: 'Point', coordinates: [state.at.lon, state.at.lat] } };
  show(view, 'me', { type: 'FeatureCollection', features: [ring(state.at), point] });
  view.setPaintProperty('me-dot', 'circle-color', colour(old ? '--muted' : '--me'));
  view.setPaintProperty('me-edge', 'line-color', colour(old ? '--muted' : '--me'));
  fact.hidden = false;
  fact.classList.toggle('poor', old || state.at.accuracy > poor);
  const age = Math.round((Date.now() - state.at.time) / 1000);
  fact.textContent = old ? `Place from ${age} s ago` : `\u00b1 ${metres(state.at.accuracy)}`;
}

function pressed() {
  button.setAttribute('aria-pressed', String(state.watch !== null));
  button.classList.toggle('follows', state.follows);
}

function go() {
  const view = map.instance();
  // Near enough to see the ring and what stands within it.
  const zoom = Math.max(view.getZoom(), 17 - Math.log2(Math.max(state.at.accuracy, 25) / 25));
  view.easeTo({ center: [state.at.lon, state.at.lat], zoom, duration: still() ? 0 : 300 });
}

function came({ coords }) {
  const isFirst = state.at === null;
  state.at = { lon: coords.longitude, lat: coords.latitude, accuracy: coords.accuracy, time: Date.now() };
  look();
  if (state.follows && isFirst) go();
  else if (state.follows) map.instance().easeTo({ center: [state.at.lon, state.at.lat], duration: still() ? 0 : 300 });
  if (isFirst) announce(`Your place is known to ${metres(state.at.accuracy)}.`);
}

function stop() {
  if (state.watch !== null) navigator.geolocation.clearWatch(state.watch);
  clearInterval(state.timer);
  Object.assign(state, { watch: null, at: null, follows: false });
  pressed();
  look();
}

function press() {
  if (!navigator.geolocation) { panels.tell('This browser doesn\u2019t tell where it is.', { tone: 'wn' }); return; }
  if (state.watch !== null && state.follows) { stop(); announce('Your place is no longer shown.'); return; }
  state.follows = true;
  if (state.watch === null) {
    state.watch = navigator.geolocation.watchPosition(came, (error) => {
      // A place that was known stays, and grows old.
      if (state.at && error.code !== 1) return;
      stop();
      panels.tell(problem(error), { tone: 'wn' });
    }, watch);
    state.timer = setInterval(look, 5000);
  } else if (state.at) go();
  pressed();
}

/** The buttons of panels that want the place. */
async function wanted(event) {
  const use = event.target.closest('[data-here]');
  if (!use) return;
  event.preventDefault();
  use.setAttribute('aria-busy', 'true');
  try {
    const at = await here();
    if (use.dataset.here === 'list') {
      const address = new URL(use.dataset.address, location.origin);
      address.searchParams.set('near', `${at.lon.toFixed(7)},${at.lat.toFixed(7)}`);
      await panels.open(address.pathname + address.search);
    } else {
      const [lat, lon] = [document.getElementById('place-lat'), document.getElementById('place-lon')];
      lat.value = at.lat.toFixed(9);
      lon.value = at.lon.toFixed(9);
      if (map.instance()) map.lookAt(at.lon, at.lat, { zoom: Math.max(map.instance().getZoom(), 18) });
      announce(`The pin is at your place, known to ${metres(at.accuracy)}.`);
    }
  } catch (error) {
    panels.tell(error.message, { tone: 'wn' });
  } finally {
    use.removeAttribute('aria-busy');
  }
}

export function start() {
  document.addEventListener('click', wanted);
  const view = map.instance();
  if (!view) return;
  button.hidden = false;
  button.addEventListener('click', press);
  view.on('dragstart', () => { state.follows = false; pressed(); });
  map.onRestyle(look);
}
