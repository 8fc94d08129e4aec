// The basemap: what lies under the layers of the map, and over them where its author says so. It comes when it comes: the
// features don't wait for it.
import { windowID } from './window-id.js';

const state = { map: null, shown: null, turn: 0 };

/** The look that the page has now. */
function look() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

const isOurs = (id) => id.startsWith('base-');

function clear(map) {
  for (const id of map.getLayersOrder().filter(isOurs)) map.removeLayer(id);
  for (const id of Object.keys(map.getStyle().sources).filter(isOurs)) map.removeSource(id);
  if (map.getSprite().some((one) => one.id === 'default')) map.removeSprite('default');
}

/** The layers of a style with the addresses of this process in place of its own. */
function vectorLayers(part, name) {
  const style = JSON.parse(part.style);
  const known = new Set(Object.keys(style.sources ?? {}).filter((source) => style.sources[source].type === 'vector'));
  return (style.layers ?? []).filter((layer) => layer.type === 'background' || known.has(layer.source)).map((layer, index) => {
    const { source, ...rest } = layer;
    return { ...rest, id: `${name}-${index}`, ...(source ? { source: name } : {}) };
  });
}

function add(map, part, index, above) {
  const name = `base-${index}`;
  const [minzoom, maxzoom] = part.levels;
  const tiles = [`${location.origin}${part.address}/tile/{z}/{x}/{y}?v=${part.version}`];
  // What is labelled lies below the features, for it must not hide them.
  const before = part.isReference ? above : 'data-below';
  if (!part.style) {
    map.addSource(name, { type: 'raster', tiles, tileSize: part.tileSize, minzoom, maxzoom });
    map.addLayer({ id: `${name}-0`, type: 'raster', source: name, paint: { 'raster-opacity': part.opacity, 'raster-fade-duration': 0 } }, before);
    return;
  }
  if (part.hasPictures && !map.getSprite().some((one) => one.id === 'default')) {
    map.addSprite('default', `${location.origin}${part.address}/pictures/sprite`);
  }
  map.addSource(name, { type: 'vector', tiles, minzoom, maxzoom });
  for (const layer of vectorLayers(part, name)) map.addLayer(layer, before);
}

function attribute(text) {
  const line = document.getElementById('attribution');
  // Services write links into it; what is shown is the text.
  line.textContent = new DOMParser().parseFromString(text ?? '', 'text/html').body.textContent.trim();
  line.hidden = line.textContent === '';
}

/**
 * Draws the basemap that is chosen.
 * @param above the layer of the map's style under which what lies over the features goes.
 */
export async function draw(map, above) {
  const turn = state.turn += 1;
  let document_;
  try {
    const answer = await fetch(`/data/basemap?look=${look()}`, { credentials: 'same-origin', headers: { 'Fieldwork-Window': windowID } });
    if (!answer.ok) return;
    document_ = await answer.json();
  } catch {
    return;
  }
  // Another look or another basemap was asked for since.
  if (turn !== state.turn || !map.getLayer('data-below')) return;
  clear(map);
  document_.parts.forEach((part, index) => {
    try {
      add(map, part, index, above);
    } catch (error) {
      console.warn(`The basemap's layer ${index} isn't drawn: ${error.message}`);
    }
  });
  attribute(document_.attribution);
  state.shown = document_.key ?? null;
}
