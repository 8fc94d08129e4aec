// Vertices on the map: tap, drag and keys do what the panel's buttons do, each as one step that the process keeps.
import * as panels from './panels.js';
import * as map from './map.js';
import { announce } from './live.js';
import { empty, show } from './map-style.js';

const element = document.getElementById('map');
const crosshair = document.getElementById('crosshair');
let shape = null;
let dragged = null;
let pending = 0;

const isOpen = () => 'sketch' in document.getElementById('panel').dataset;
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const feature = (geometry, properties = {}) => ({ type: 'Feature', properties, geometry });
const point = (coordinates, properties) => feature({ type: 'Point', coordinates }, properties);

function addLayers() {
  const view = map.instance();
  if (view.getSource('sketch')) return;
  view.addSource('sketch', { type: 'geojson', data: empty });
  const select = colour('--select');
  const gap = colour('--select-gap');
  const of = (kind) => ['==', ['get', 'kind'], kind];
  view.addLayer({ id: 'sketch-fill', type: 'fill', source: 'sketch', filter: of('fill'), paint: { 'fill-color': select, 'fill-opacity': 0.2 } });
  view.addLayer({ id: 'sketch-gap', type: 'line', source: 'sketch', filter: of('line'), paint: { 'line-color': gap, 'line-width': 7 } });
  view.addLayer({ id: 'sketch-line', type: 'line', source: 'sketch', filter: of('line'), paint: { 'line-color': ['case', ['get', 'bad'], colour('--bad'), select], 'line-width': 4 } });
  view.addLayer({ id: 'sketch-mid', type: 'circle', source: 'sketch', filter: of('mid'), paint: { 'circle-color': select, 'circle-radius': 6, 'circle-stroke-color': gap, 'circle-stroke-width': 2 } });
  view.addLayer({
    id: 'sketch-vertex', type: 'circle', source: 'sketch', filter: of('vertex'),
    paint: {
      'circle-color': ['case', ['get', 'chosen'], select, gap], 'circle-radius': ['case', ['get', 'chosen'], 13, 9],
      'circle-stroke-color': ['case', ['get', 'chosen'], gap, select], 'circle-stroke-width': 4,
    },
  });
}

function draw() {
  const view = map.instance();
  if (!view?.getSource('sketch')) return;
  if (!shape) { show(view, 'sketch', empty); return; }
  const features = [];
  const closes = shape.kind === 'polygon';
  const rings = shape.parts.filter((part) => part.length > 2).map((part) => [...part, part[0]]);
  if (closes && rings.length > 0) features.push(feature({ type: 'Polygon', coordinates: rings }, { kind: 'fill' }));
  shape.parts.forEach((part, number) => {
    const line = closes && part.length > 2 ? [...part, part[0]] : part;
    if (line.length > 1) features.push(feature({ type: 'LineString', coordinates: line }, { kind: 'line', bad: shape.bad }));
    for (let index = 0; index + 1 < line.length; index += 1) {
      const [a, b] = [line[index], line[index + 1]];
      features.push(point([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], { kind: 'mid', part: number, index }));
    }
  });
  shape.parts.forEach((part, number) => part.forEach((place, index) => {
    const chosen = shape.chosen?.[0] === number && shape.chosen?.[1] === index;
    features.push(point(place, { kind: 'vertex', part: number, index, chosen }));
  }));
  show(view, 'sketch', { type: 'FeatureCollection', features });
}

/** One step, sent as the panel's form sends it. */
function step(what, place = null) {
  const form = document.getElementById('sketch-form');
  const body = new URLSearchParams({ do: what });
  if (place) {
    body.set('lon', place.lng.toFixed(9));
    body.set('lat', place.lat.toFixed(9));
    body.set('tolerance', String(tolerance()));
  }
  return panels.open(form.getAttribute('action'), { method: 'POST', body, focus: false });
}

const tolerance = () => 16 * 78271.51696402048 / 2 ** map.instance().getZoom();

function hit(at, layers) {
  const reach = 22;
  const found = map.instance().queryRenderedFeatures([[at.x - reach, at.y - reach], [at.x + reach, at.y + reach]], { layers });
  const away = (one) => { const p = map.instance().project(one.geometry.coordinates); return Math.hypot(p.x - at.x, p.y - at.y); };
  return found.map((one) => ({ ...one.properties, away: away(one) })).filter((one) => one.away <= reach).sort((a, b) => a.away - b.away)[0];
}

function tap(event) {
  const vertex = hit(event.point, ['sketch-vertex']);
  if (vertex) { step(`choose:${vertex.part}.${vertex.index}`); return; }
  const mid = hit(event.point, ['sketch-mid']);
  if (mid) { step(`insert:${mid.part}.${mid.index}`, event.lngLat); return; }
  if ('new' in document.getElementById('panel').dataset || shape.parts.flat().length === 0) step('add', event.lngLat);
  else step('choose:');
}

function grab(event) {
  if (!isOpen() || event.originalEvent.button > 0 || event.originalEvent.touches?.length > 1) return;
  const vertex = hit(event.point, ['sketch-vertex']);
  if (!vertex) return;
  event.preventDefault();
  dragged = { part: vertex.part, index: vertex.index, from: event.point, moved: false };
}

function drag(event) {
  if (!dragged) return;
  const far = Math.hypot(event.point.x - dragged.from.x, event.point.y - dragged.from.y);
  if (!dragged.moved && far < 4) return;
  dragged.moved = true;
  shape.parts[dragged.part][dragged.index] = [event.lngLat.lng, event.lngLat.lat];
  shape.chosen = [dragged.part, dragged.index];
  draw();
}

function drop(event) {
  if (!dragged) return;
  const done = dragged;
  dragged = null;
  if (done.moved) step(`move:${done.part}.${done.index}`, event.lngLat);
}

/** The place under the cross-hair, which stands higher where the panel covers the lower part. */
function middle() {
  const box = element.getBoundingClientRect();
  const at = crosshair.getBoundingClientRect();
  return map.instance().unproject([at.x + at.width / 2 - box.x, at.y + at.height / 2 - box.y]);
}

function neighbour(by) {
  const all = shape.parts.flatMap((part, number) => part.map((_, index) => `${number}.${index}`));
  if (all.length === 0) return;
  const at = shape.chosen ? all.indexOf(shape.chosen.join('.')) : by > 0 ? -1 : 0;
  step(`choose:${all[(at + by + all.length) % all.length]}`);
}

/** Arrows move the chosen vertex on the screen at once; the step is kept when they rest. */
function nudge(x, y) {
  const [part, index] = shape.chosen;
  const at = map.instance().project(shape.parts[part][index]);
  const to = map.instance().unproject([at.x + x, at.y + y]);
  shape.parts[part][index] = [to.lng, to.lat];
  draw();
  clearTimeout(pending);
  pending = setTimeout(() => step(`move:${part}.${index}`, to), 350);
}

function keydown(event) {
  if (!isOpen() || !shape || event.target.closest('input, textarea, select')) return;
  const control = event.ctrlKey || event.metaKey;
  const length = event.shiftKey ? 1 : 10;
  const arrows = { ArrowLeft: [-length, 0], ArrowRight: [length, 0], ArrowUp: [0, -length], ArrowDown: [0, length] };
  const key = event.key.toLowerCase();
  const onMap = event.target === element;
  if (control && key === 'z') step(event.shiftKey ? 'redo' : 'undo');
  else if (control || event.altKey) return;
  else if (arrows[event.key] && onMap && shape.chosen) nudge(...arrows[event.key]);
  else if (key === 'n') neighbour(1);
  else if (key === 'b') neighbour(-1);
  else if (key === 'i') step(shape.chosen ? 'insert' : 'add', middle());
  else if (key === 's') step('snap');
  else if (event.key === 'Delete' && shape.chosen) step('delete');
  else if (event.key === 'Enter' && onMap) step('save');
  else if (event.key === 'Escape' && shape.chosen) step('choose:');
  else if (event.key === 'Escape') panels.open(document.getElementById('sketch-form').getAttribute('action').startsWith('/add') ? '/map' : location.pathname.replace(/\/geometry$/, '').replace(/^/, '/map'));
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

function settle() {
  const open = isOpen() && map.instance() !== null;
  map.setTool(open ? tap : null);
  if (!open) {
    if (shape) { shape = null; draw(); crosshair.toggleAttribute('hidden', true); }
    return;
  }
  const isFirst = shape === null;
  const panel = document.getElementById('panel');
  shape = JSON.parse(panel.dataset.sketch);
  addLayers();
  draw();
  crosshair.toggleAttribute('hidden', false);
  for (const part of panel.querySelectorAll('[data-script]')) part.hidden = false;
  document.getElementById('sketch-tolerance').value = String(tolerance());
  announce(panel.dataset.says);
  if (!isFirst) return;
  map.clearSelection();
  const places = shape.parts.flat();
  if (places.length > 1) {
    const bounds = places.reduce((all, place) => all.extend(place), new maplibregl.LngLatBounds(places[0], places[0]));
    map.instance().fitBounds(bounds, { padding: 80, maxZoom: 18, animate: false });
  }
  element.focus({ preventScroll: true });
}

export function start() {
  map.onRestyle(() => { if (shape) { addLayers(); draw(); } });
  panels.onChange((changed) => { if (changed.panel) settle(); });
  const view = map.instance();
  if (!view) return;
  document.addEventListener('keydown', keydown, true);
  view.on('mousedown', grab);
  view.on('touchstart', grab);
  view.on('mousemove', drag);
  view.on('touchmove', drag);
  view.on('mouseup', drop);
  view.on('touchend', drop);
  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-middle]');
    if (button) step(button.dataset.middle, middle());
  });
  settle();
}
