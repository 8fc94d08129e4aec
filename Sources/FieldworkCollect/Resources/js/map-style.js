// The map's own style: quiet paper ground, graticule, the basemap, the map's layers, what isn't sent yet, the selection, labels.
import { badge, colour, options, readable } from './symbols.js';

const empty = { type: 'FeatureCollection', features: [] };

/** Markers have the author's size from the level of streets on. Where a town is a hand's breadth they would hide each other. */
const growth = (value) => ['interpolate', ['linear'], ['zoom'], 9, ['*', 0.5, value], 15, value];

function graticule() {
  const features = [];
  for (let degrees = -180; degrees <= 180; degrees += 10) {
    features.push({ type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: [[degrees, -85], [degrees, 85]] } });
    if (degrees > -90 && degrees < 90) {
      features.push({ type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: [[-180, degrees], [180, degrees]] } });
    }
  }
  return { type: 'FeatureCollection', features };
}

/** What lies under everything: the layers of the map come above it with `addLayers`. */
export function ground({ hasPictures = false } = {}) {
  const pictures = hasPictures ? [{ id: 'data', url: `${location.origin}/data/pictures/sheet` }] : [];
  return {
    version: 8,
    glyphs: `${location.origin}/data/fonts/{fontstack}/{range}`,
    ...(pictures.length > 0 ? { sprite: pictures } : {}),
    sources: {
      graticule: { type: 'geojson', data: graticule() },
      area: { type: 'geojson', data: empty },
      unsent: { type: 'geojson', data: empty },
      selected: { type: 'geojson', data: empty },
      move: { type: 'geojson', data: empty },
      me: { type: 'geojson', data: empty },
    },
    layers: [
      { id: 'paper', type: 'background', paint: { 'background-color': colour('--map-land') } },
      { id: 'graticule', type: 'line', source: 'graticule', maxzoom: 9, paint: { 'line-color': colour('--map-road-edge'), 'line-width': 1 } },
      { id: 'data-below', type: 'background', layout: { visibility: 'none' } },
    ],
  };
}

/** Colours in an expression, each made to stand out from the ground. */
function adapted(value) {
  if (Array.isArray(value)) return value.map(adapted);
  return typeof value === 'string' && value.startsWith('rgba(') ? readable(value) : value;
}

const isPlainLook = () => !document.documentElement.dataset.theme?.match(/dark|sunlight/)
  && (document.documentElement.dataset.theme === 'light' || !matchMedia('(prefers-color-scheme: dark)').matches);

/** A layer of the author's style as the app draws it: readable on the ground of the look, smaller where the map shows much. */
function fitted(style) {
  const { paint = {}, layout = {} } = style;
  for (const name of ['circle-color', 'line-color', 'text-color']) {
    if (paint[name] !== undefined) paint[name] = adapted(paint[name]);
  }
  if (style.type === 'circle') {
    paint['circle-radius'] = growth(paint['circle-radius'] ?? 4);
    paint['circle-stroke-width'] = growth(paint['circle-stroke-width'] ?? 0);
  }
  if (layout['icon-image']) layout['icon-size'] = growth(layout['icon-size'] ?? 1);
  // Labels lie on areas too, whose colours differ from the ground's: in the dark and in sunlight they have the look's own.
  if (layout['text-field'] && !isPlainLook()) paint['text-color'] = colour('--ink-on-map');
  if (layout['text-field'] && (!isPlainLook() || !paint['text-halo-width'])) {
    paint['text-halo-color'] = colour('--map-land');
    paint['text-halo-width'] = Math.max(paint['text-halo-width'] ?? 0, 1.4);
  }
  return { ...style, paint, layout };
}

/** The layers of the style that draw or letter a layer of the map. */
function authored(layer, part) {
  return JSON.parse(layer[part]).map((style, index) => ({ ...fitted(style), id: `${part === 'labels' ? 'labels' : 'layer'}-${layer.id}-${index}` }));
}

/** The same for what isn't on the server yet. */
function unsent(layer, style) {
  const { 'source-layer': _, ...rest } = style;
  const own = ['==', ['get', 'app:layer'], layer.id];
  return { ...rest, id: `unsent-${style.id}`, source: 'unsent', filter: style.filter ? ['all', own, style.filter] : own };
}

/**
 * Gives a source of the app's own what it holds. Its layers are drawn only while that is something: every source that is drawn
 * takes a pass over the whole picture in each frame, even an empty one.
 */
export function show(map, source, data) {
  map.getSource(source).setData(data);
  const visibility = data.features?.length === 0 ? 'none' : 'visible';
  for (const id of map.getLayersOrder()) {
    if (map.getLayer(id).source === source) map.setLayoutProperty(id, 'visibility', visibility);
  }
}

/** The conditions of the author's style, to which those of the app are added. */
let conditions = new Map();

/** Adds the layers of the map, bottom first, then what the app draws itself, then the labels. */
export function addLayers(map, document_) {
  conditions = new Map();
  const add = (style) => { conditions.set(style.id, style.filter ?? null); map.addLayer(style); };
  for (const layer of document_.layers) {
    map.addSource(`layer-${layer.id}`, { type: 'vector', tiles: [tileAddress(layer)], minzoom: 0, maxzoom: 16 });
    authored(layer, 'drawing').forEach(add);
  }
  map.addLayer({ id: 'data-above', type: 'background', layout: { visibility: 'none' } });
  map.addLayer({ id: 'area-here', type: 'fill', source: 'area', filter: ['==', ['get', 'kind'], 'here'], paint: { 'fill-color': colour('--select'), 'fill-opacity': 0.14 } });
  map.addLayer({ id: 'area-edge', type: 'line', source: 'area', filter: ['==', ['get', 'kind'], 'whole'], paint: { 'line-color': colour('--select'), 'line-width': 3 } });
  map.addImage('not-sent', badge(false), options);
  map.addImage('refused', badge(true), options);
  map.addLayer({ id: 'selected-fill', type: 'fill', source: 'selected', filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': colour('--select'), 'fill-opacity': 0.14 } });
  map.addLayer({ id: 'selected-gap', type: 'line', source: 'selected', filter: ['!=', ['geometry-type'], 'Point'], paint: { 'line-color': colour('--select-gap'), 'line-width': 8 } });
  map.addLayer({ id: 'selected-line', type: 'line', source: 'selected', filter: ['!=', ['geometry-type'], 'Point'], paint: { 'line-color': colour('--select'), 'line-width': 4 } });
  map.addLayer({ id: 'move-line', type: 'line', source: 'move', paint: { 'line-color': colour('--select'), 'line-width': 3, 'line-dasharray': [2, 1.5] } });
  for (const layer of document_.layers) {
    for (const style of authored(layer, 'drawing')) map.addLayer(unsent(layer, style));
  }
  for (const layer of document_.layers) {
    for (const style of authored(layer, 'labels')) { add(style); map.addLayer(unsent(layer, style)); }
    setVisible(map, layer);
  }
  map.addLayer({
    id: 'unsent-badges', type: 'symbol', source: 'unsent',
    layout: {
      'icon-image': ['case', ['get', 'app:refused'], 'refused', 'not-sent'], 'icon-size': 0.8, 'icon-offset': [13, -13],
      'icon-allow-overlap': true, 'icon-ignore-placement': true,
    },
  });
  const isRing = ['==', ['get', 'kind'], 'ring'];
  map.addLayer({ id: 'me-ring', type: 'fill', source: 'me', filter: isRing, paint: { 'fill-color': colour('--me'), 'fill-opacity': 0.15 } });
  map.addLayer({ id: 'me-edge', type: 'line', source: 'me', filter: isRing, paint: { 'line-color': colour('--me'), 'line-width': 2, 'line-dasharray': [3, 2] } });
  map.addLayer({ id: 'me-dot', type: 'circle', source: 'me', filter: ['==', ['get', 'kind'], 'dot'], paint: { 'circle-radius': 8, 'circle-color': colour('--me'), 'circle-stroke-width': 3, 'circle-stroke-color': colour('--select-gap') } });
  const point = { source: 'selected', type: 'circle', filter: ['==', ['geometry-type'], 'Point'] };
  map.addLayer({ id: 'selected-point-gap', ...point, paint: { 'circle-radius': 14, 'circle-opacity': 0, 'circle-stroke-width': 3, 'circle-stroke-color': colour('--select-gap') } });
  map.addLayer({ id: 'selected-point', ...point, paint: { 'circle-radius': 16, 'circle-opacity': 0, 'circle-stroke-width': 4, 'circle-stroke-color': colour('--select') } });
  for (const source of ['area', 'unsent', 'selected', 'move', 'me']) show(map, source, empty);
}

export function setVisible(map, layer) {
  for (const id of styleLayers(map, layer, ['layer', 'labels'])) {
    map.setLayoutProperty(id, 'visibility', layer.visible ? 'visible' : 'none');
  }
}

/** Leaves out features of the tiles that are drawn in another place: those with edits that aren't sent. */
export function leaveOut(map, layer, ids) {
  const rest = ids.length > 0 ? ['!', ['in', ['id'], ['literal', ids]]] : null;
  for (const id of styleLayers(map, layer, ['layer', 'labels'])) {
    const both = ['all', ...[conditions.get(id), rest].filter(Boolean)];
    map.setFilter(id, both.length > 1 ? both : null);
  }
}

export function tileAddress(layer) {
  return `${location.origin}/data/tiles/${layer.id}/{z}/{x}/{y}?g=${layer.generation}`;
}

/** The drawings of a layer: what the server has of it, and what isn't sent yet. */
export function styleLayers(map, layer, prefixes = ['layer', 'unsent-layer']) {
  return map.getLayersOrder().filter((id) => prefixes.some((prefix) => id.startsWith(`${prefix}-${layer.id}-`)));
}

export { empty };
