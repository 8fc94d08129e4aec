// Where the map looks, and how far a pixel is.
import { element, state } from './map-state.js';

export const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Metres of the Web Mercator grid per CSS pixel. */
export const unitsPerPixel = () => 78271.51696402048 / 2 ** state.map.getZoom();

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

export function wholeMap() {
  if (state.whole) state.map.fitBounds(state.whole, { padding: 40, duration: still() ? 0 : 300 });
}
