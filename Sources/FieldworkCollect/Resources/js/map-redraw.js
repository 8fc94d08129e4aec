// Draws what has changed: tiles with new data, and the edits that are not on the server yet.
import * as basemap from './basemap.js';
import { ask, element, painted, state } from './map-state.js';
import { leaveOut, setVisible, show, tileAddress } from './map-style.js';

/** What is drawn from older data than there is; null for nothing. */
let stale = null;
/** Whether a drawing is on its way. */
let waits = false;

export const isStale = () => stale !== null;

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
  stale = { layers: layers || (stale?.layers ?? false) };
  if (waits) return;
  waits = true;
  await painted();
  waits = false;
  if (!state.ready || isCovered()) return;
  const due = stale;
  stale = null;
  if (due.layers) await refreshAll();
  else await refreshOverlay();
}

/** Draws what isn't on the server yet, and hides the older picture of it in the tiles. */
export async function refreshOverlay(answer = ask('/data/overlay')) {
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
