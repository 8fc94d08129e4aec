// What the modules of the map share: the map itself, its layers, and how they ask.
import { windowID } from './window-id.js';

export const element = document.getElementById('map');

/**
 * map: of the library. ready: whether layers can be drawn on it. layers: of the open map. whole: the extent of them all. hasPictures:
 * whether symbols are pictures. basemap: what is drawn under all. callout: on the map. pin: what a place is chosen for. tool: gets the taps.
 */
export const state = {
  map: null, ready: false, layers: [], whole: null, hasPictures: false, basemap: null, callout: null, pin: null, tool: null,
};

/** Asks the app's own process. */
export const ask = (address) => fetch(address, { credentials: 'same-origin' });

/** After the next frame was drawn. */
export const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 0)); });

export const post = (address, values, headers = {}) => fetch(address, {
  method: 'POST', body: new URLSearchParams(values), credentials: 'same-origin',
  headers: { 'Fieldwork-Window': windowID, ...headers },
});
