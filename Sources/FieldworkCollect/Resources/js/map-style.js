// The map's own style: quiet paper ground, graticule, the service's layers, what isn't sent yet, the selection.
import { badge, colour, edge, marker, options, readable } from './symbols.js';

const empty = { type: 'FeatureCollection', features: [] };
const iconSize = ['interpolate', ['linear'], ['zoom'], 2, 0.5, 6, 0.6, 12, 0.6, 14, 0.75, 16, 1, 20, 1.25];

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

export function ground() {
  return {
    version: 8,
    sources: {
      graticule: { type: 'geojson', data: graticule() },
      area: { type: 'geojson', data: empty },
      unsent: { type: 'geojson', data: empty },
      selected: { type: 'geojson', data: empty },
      move: { type: 'geojson', data: empty },
    },
    layers: [
      { id: 'paper', type: 'background', paint: { 'background-color': colour('--map-land') } },
      { id: 'graticule', type: 'line', source: 'graticule', maxzoom: 9, paint: { 'line-color': colour('--map-road-edge'), 'line-width': 1 } },
      { id: 'data-below', type: 'background', layout: { visibility: 'none' } },
    ],
  };
}

const matching = (layer, value, otherwise) => {
  const cases = layer.symbols.flatMap((symbol, index) => [index, value(symbol)]);
  return cases.length > 0 ? ['match', ['get', 's'], ...cases, otherwise] : otherwise;
};
const shapeColour = (symbol) => readable(symbol.fill !== 'none' ? symbol.fill : symbol.edge);

function drawing(layer, source, prefix, filter) {
  const base = { source, ...(source === 'unsent' ? {} : { 'source-layer': 'f' }), ...(filter ? { filter } : {}) };
  const range = { ...(layer.minzoom ? { minzoom: layer.minzoom } : {}), ...(layer.maxzoom ? { maxzoom: layer.maxzoom } : {}) };
  if (layer.geometry === 'point') {
    return [{
      id: `${prefix}-points`, type: 'symbol', ...base, ...range,
      layout: {
        'icon-image': ['concat', `s${layer.id}-`, ['to-string', ['get', 's']]], 'icon-size': iconSize,
        'icon-allow-overlap': true, 'icon-ignore-placement': true, 'symbol-z-order': 'source',
      },
    }];
  }
  const lines = {
    id: `${prefix}-lines`, type: 'line', ...base, ...range,
    layout: { 'line-cap': 'round', 'line-join': 'round' },
    paint: {
      'line-color': layer.geometry === 'polygon' ? colour('--map-boundary') : matching(layer, shapeColour, colour('--ink')),
      'line-width': layer.geometry === 'polygon' ? 1.6 : 3,
    },
  };
  if (layer.geometry === 'line') return [lines];
  return [{
    id: `${prefix}-areas`, type: 'fill', ...base, ...range,
    paint: { 'fill-color': matching(layer, shapeColour, colour('--map-block')), 'fill-opacity': 0.22 },
  }, lines];
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

/** Adds the layers of the service, bottom first, then what the app draws itself. */
export function addLayers(map, document_) {
  for (const layer of document_.layers) {
    layer.symbols.forEach((symbol, index) => map.addImage(`s${layer.id}-${index}`, marker(symbol), options));
    map.addSource(`layer-${layer.id}`, {
      type: 'vector', tiles: [tileAddress(layer)], minzoom: 0, maxzoom: 16,
      ...(layer.bounds ? { bounds: layer.bounds } : {}),
    });
    for (const style of drawing(layer, `layer-${layer.id}`, `layer-${layer.id}`)) map.addLayer(style);
    setVisible(map, layer);
  }
  map.addLayer({ id: 'area-here', type: 'fill', source: 'area', filter: ['==', ['get', 'kind'], 'here'], paint: { 'fill-color': colour('--select'), 'fill-opacity': 0.14 } });
  map.addLayer({ id: 'area-edge', type: 'line', source: 'area', filter: ['==', ['get', 'kind'], 'whole'], paint: { 'line-color': colour('--select'), 'line-width': 3 } });
  map.addImage('not-sent', badge(false), options);
  map.addImage('refused', badge(true), options);
  map.addLayer({ id: 'selected-fill', type: 'fill', source: 'selected', filter: ['==', ['geometry-type'], 'Polygon'], paint: { 'fill-color': colour('--select'), 'fill-opacity': 0.14 } });
  map.addLayer({ id: 'selected-gap', type: 'line', source: 'selected', filter: ['!=', ['geometry-type'], 'Point'], paint: { 'line-color': colour('--select-gap'), 'line-width': 8 } });
  map.addLayer({ id: 'selected-line', type: 'line', source: 'selected', filter: ['!=', ['geometry-type'], 'Point'], paint: { 'line-color': colour('--select'), 'line-width': 4 } });
  map.addLayer({ id: 'move-line', type: 'line', source: 'move', paint: { 'line-color': colour('--select'), 'line-width': 3, 'line-dasharray': [2, 1.5] } });
  for (const layer of document_.layers) {
    for (const style of drawing(layer, 'unsent', `unsent-${layer.id}`, ['==', ['get', 'layer'], layer.id])) map.addLayer(style);
  }
  map.addLayer({
    id: 'unsent-badges', type: 'symbol', source: 'unsent',
    layout: {
      'icon-image': ['case', ['get', 'refused'], 'refused', 'not-sent'], 'icon-size': 0.8, 'icon-offset': [13, -13],
      'icon-allow-overlap': true, 'icon-ignore-placement': true,
    },
  });
  const point = { source: 'selected', type: 'circle', filter: ['==', ['geometry-type'], 'Point'] };
  map.addLayer({ id: 'selected-point-gap', ...point, paint: { 'circle-radius': 14, 'circle-opacity': 0, 'circle-stroke-width': 3, 'circle-stroke-color': colour('--select-gap') } });
  map.addLayer({ id: 'selected-point', ...point, paint: { 'circle-radius': 16, 'circle-opacity': 0, 'circle-stroke-width': 4, 'circle-stroke-color': colour('--select') } });
  for (const source of ['area', 'unsent', 'selected', 'move']) show(map, source, empty);
}

export function setVisible(map, layer) {
  for (const id of styleLayers(map, layer, ['layer'])) map.setLayoutProperty(id, 'visibility', layer.visible ? 'visible' : 'none');
}

export function tileAddress(layer) {
  return `${location.origin}/data/tiles/${layer.id}/{z}/{x}/{y}?g=${layer.generation}`;
}

/** The drawings of a layer: what the server has of it, and what isn't sent yet. */
export function styleLayers(map, layer, prefixes = ['layer', 'unsent']) {
  return ['points', 'lines', 'areas']
    .flatMap((kind) => prefixes.map((prefix) => `${prefix}-${layer.id}-${kind}`))
    .filter((id) => map.getLayer(id));
}

export { empty };
