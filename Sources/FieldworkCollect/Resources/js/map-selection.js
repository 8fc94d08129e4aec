// What is selected: its ring, its call-out and its row.
import { announce } from './live.js';
import { showCallout } from './map-callout.js';
import { lookAt } from './map-camera.js';
import { painted, state } from './map-state.js';
import { empty, show } from './map-style.js';

const stage = document.querySelector('.stage');

export function clearSelection() {
  showCallout(null);
  stage.classList.remove('selected');
  document.querySelector('#selection')?.replaceChildren();
  if (state.ready) show(state.map, 'selected', empty);
  markRow(null);
}

/** Marks the row of a feature in the list of those in view; null for none. */
export function markRow(feature) {
  for (const row of document.querySelectorAll('#nearby .lrow')) {
    if (row.dataset.feature === feature) row.setAttribute('aria-current', 'true');
    else row.removeAttribute('aria-current');
  }
}

/**
 * Shows what the page says is selected: call-out and row at once, the ring on the map when these have been drawn. A panel that is
 * about a feature, its form for one, has the ring alone.
 */
export async function showSelection() {
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
