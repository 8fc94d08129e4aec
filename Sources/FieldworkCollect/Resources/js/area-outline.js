// The area of the download on the page, drawn on the map: it fills from below as it comes.
import * as map from './map.js';
import { empty, show } from './map-style.js';
import * as panels from './panels.js';

let shown = null;

function box(west, south, east, north, kind) {
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]];
  return { type: 'Feature', properties: { kind }, geometry: { type: 'Polygon', coordinates: [ring] } };
}

/** Latitudes of the map are farther apart towards the poles: a part of the height is one on the screen. */
function between(south, north, part) {
  const tall = (degrees) => Math.asinh(Math.tan((degrees * Math.PI) / 180));
  const limit = (degrees) => Math.max(-85, Math.min(85, degrees));
  const [low, high] = [tall(limit(south)), tall(limit(north))];
  return (Math.atan(Math.sinh(low + (high - low) * part)) * 180) / Math.PI;
}

function draw() {
  const view = map.instance();
  if (!view?.getSource('area')) return;
  const { outline, part } = document.getElementById('panel').dataset;
  if (!outline) {
    shown = null;
    show(view, 'area', empty);
    return;
  }
  const [west, south, east, north] = outline.split(',').map(Number);
  const features = [box(west, south, east, north, 'whole')];
  if (Number(part) > 0) features.push(box(west, south, east, between(south, north, Number(part) / 100), 'here'));
  show(view, 'area', { type: 'FeatureCollection', features });
  if (shown !== outline) view.fitBounds([[west, south], [east, north]], { padding: 60, maxZoom: 18, animate: false });
  shown = outline;
}

export function start() {
  panels.onChange((changed) => { if (changed.panel) draw(); });
  map.onRestyle(draw);
  draw();
}
