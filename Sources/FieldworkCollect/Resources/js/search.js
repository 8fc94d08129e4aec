// The search: answers while one types, the way from the map's own box into it, the pin of a place that was chosen, and the address
// of a place under the finger.
import * as panels from './panels.js';
import * as map from './map.js';
import { announce } from './live.js';

/** After the last letter, before the process is asked, in milliseconds. */
const pause = 120;
const fewest = 2;

let timer = 0;
let turn = 0;
let marker = null;

const field = () => document.querySelector('#panel[data-search] #search-q');

function put(id, text) {
  const target = document.getElementById(id);
  if (!target || target.contains(document.activeElement)) return 0;
  const source = new DOMParser().parseFromString(text, 'text/html');
  target.replaceChildren(...[...source.body.childNodes].map((node) => document.adoptNode(node)));
  return Number(target.querySelector('[data-found]')?.dataset.found ?? 0);
}

async function part(name, text, own) {
  const answer = await fetch(`/data/search/${name}?${new URLSearchParams({ q: text })}`, { credentials: 'same-origin' });
  if (answer.status === 403) { panels.lockedOut(); return 0; }
  // What was typed since has its own answer.
  return answer.ok && own === turn && field() ? put(`search-${name}`, await answer.text()) : 0;
}

const count = (number, one, many) => (number === 1 ? `1 ${one}` : `${number} ${many}`);

async function ask() {
  const input = field();
  if (!input) return;
  const text = input.value.trim();
  const own = turn += 1;
  document.getElementById('search-nothing')?.remove();
  document.getElementById('search-recent')?.toggleAttribute('hidden', text !== '');
  if (text.length < fewest) { put('search-places', ''); put('search-features', ''); return; }
  try {
    const [places, features] = await Promise.all([part('places', text, own), part('features', text, own)]);
    if (own !== turn || !field()) return;
    const found = [features && count(features, 'feature', 'features'), places && count(places, 'address or place', 'addresses and places')];
    announce(found.filter(Boolean).join(' and ') || 'Nothing found yet.');
  } catch {
    if (own === turn) panels.tell(panels.gone);
  }
}

function askSoon() {
  clearTimeout(timer);
  timer = setTimeout(ask, pause);
}

/** What is typed into the box on the map goes on in the search's own panel. */
async function goOn(box) {
  if (box.dataset.opens) return;
  box.dataset.opens = 'yes';
  const isOpen = await panels.open('/search', { focus: false });
  delete box.dataset.opens;
  const input = field();
  if (!isOpen || !input) return;
  input.value = box.value;
  box.value = '';
  input.focus();
  ask();
}

function keys(event) {
  const input = field();
  if (!input || !['ArrowDown', 'ArrowUp'].includes(event.key)) return;
  const rows = [...document.querySelectorAll('#panel[data-search] .lrow')].filter((row) => row.offsetParent !== null);
  const at = event.target === input ? -1 : rows.indexOf(event.target);
  if (rows.length === 0 || (at < 0 && event.target !== input)) return;
  const to = event.key === 'ArrowDown' ? Math.min(at + 1, rows.length - 1) : at - 1;
  if (event.target === input && event.key === 'ArrowUp') return;
  event.preventDefault();
  (rows[to] ?? input).focus();
}

/** The pin of a place that was chosen; the map goes there. */
function showPlace() {
  marker?.remove();
  marker = null;
  const place = document.querySelector('#selection [data-found-place]');
  const view = map.instance();
  if (!place || !view) return;
  const [lon, lat, zoom] = [place.dataset.lon, place.dataset.lat, place.dataset.zoom].map(Number);
  const pin = document.getElementById('pin').cloneNode(true);
  pin.removeAttribute('id');
  pin.removeAttribute('hidden');
  const wrapper = document.createElement('div');
  wrapper.className = 'found-pin';
  wrapper.setAttribute('aria-hidden', 'true');
  wrapper.append(pin);
  marker = new maplibregl.Marker({ element: wrapper, anchor: 'bottom' }).setLngLat([lon, lat]).addTo(view);
  map.lookAt(lon, lat, { zoom });
}

/** The line of an address in the call-out of empty ground. */
class AddressLine extends HTMLElement {
  async connectedCallback() {
    if (this.isAsked) return;
    this.isAsked = true;
    this.textContent = 'Looking for the address\u2026';
    const place = new URLSearchParams({ lon: this.dataset.lon, lat: this.dataset.lat });
    try {
      const answer = await fetch(`/data/address?${place}`, { credentials: 'same-origin' });
      const told = answer.ok ? await answer.json() : {};
      this.textContent = told.address ?? told.reason ?? 'No address is known here.';
      this.classList.toggle('known', told.address !== undefined);
      if (told.address && this.isConnected) announce(told.address);
    } catch {
      this.textContent = 'No address is known here.';
    }
  }
}

export function start() {
  customElements.define('address-line', AddressLine);
  document.addEventListener('input', (event) => {
    if (event.target === field()) askSoon();
    else if (event.target.id === 'map-search-q') goOn(event.target);
  });
  document.addEventListener('keydown', (event) => { if (!event.defaultPrevented) keys(event); }, true);
  panels.onChange((changed) => {
    if (changed.panel && field() && document.activeElement?.matches('#panel h1')) field().focus();
  });
  // What was typed before this script was there.
  const [input, box] = [field(), document.getElementById('map-search-q')];
  if (input && input.value !== input.defaultValue) askSoon();
  else if (box && box.value !== box.defaultValue) goOn(box);
}

/** When the map is there. */
export function startOnMap() {
  panels.onChange((changed) => { if (changed.selection) showPlace(); });
  map.onRestyle(showPlace);
  showPlace();
}
