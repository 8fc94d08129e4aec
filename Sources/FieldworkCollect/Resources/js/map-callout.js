// The call-out on the map beside what is selected.
import { still } from './map-camera.js';
import { element, state } from './map-state.js';
import * as panels from './panels.js';

export function showCallout(node) {
  state.callout?.remove();
  state.callout = null;
  if (!node) return;
  const wrapper = document.createElement('div');
  wrapper.className = 'marker';
  wrapper.setAttribute('role', 'presentation');
  wrapper.setAttribute('aria-label', node.getAttribute('aria-label') ?? 'Call-out');
  wrapper.append(node);
  for (const name of ['click', 'dblclick', 'mousedown', 'touchstart', 'wheel']) {
    wrapper.addEventListener(name, (event) => event.stopPropagation());
  }
  wrapper.addEventListener('click', (event) => relay(event, wrapper));
  wrapper.addEventListener('toggle', (event) => placeMenu(event.target), true);
  state.callout = new maplibregl.Marker({ element: wrapper, anchor: 'bottom', offset: [0, -22] })
    .setLngLat([Number(node.dataset.lon), Number(node.dataset.lat)]).addTo(state.map);
  if (element.contains(document.activeElement) || document.activeElement === element) {
    node.querySelector('button, summary, a')?.focus({ preventScroll: true });
  }
  keepInView(wrapper);
}

// The map must not see clicks in the call-out, but the page's own handlers must: they listen on the document.
function relay(event, wrapper) {
  const link = event.target.closest('a[data-panel]');
  if (link) { event.preventDefault(); panels.open(link.getAttribute('href')); }
  for (const menu of wrapper.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
}

// A menu opens to the side where it has room.
function placeMenu(menu) {
  const pop = menu.querySelector(':scope > .pop') ?? menu.closest('.pop');
  if (!pop) return;
  pop.classList.remove('up');
  const frame = element.getBoundingClientRect();
  if (pop.getBoundingClientRect().bottom > frame.bottom - 8) pop.classList.add('up');
}

function keepInView(wrapper) {
  requestAnimationFrame(() => {
    if (!wrapper.isConnected) return;
    // Where it is on the screen is known when the map rests.
    if (state.map.isEasing()) { state.map.once('moveend', () => keepInView(wrapper)); return; }
    const own = wrapper.getBoundingClientRect();
    const frame = element.getBoundingClientRect();
    // A panel that has come meanwhile may hide either of them: a place of nothing is no place to move the map by.
    if (own.height === 0) return;
    const mini = document.querySelector('#selection .mini')?.getBoundingClientRect();
    const low = mini?.height > 0 ? mini.top : frame.bottom;
    const right = own.right > frame.right - 8 ? own.right - frame.right + 8 : 0;
    const left = own.left < frame.left + 8 ? own.left - frame.left - 8 : 0;
    // The search and the legend lie over the map.
    const covers = [...document.querySelectorAll('.map-search, .mapview .legend')].map(part => part.getBoundingClientRect())
      .filter(box => box.height > 0 && box.left < own.right && box.right > own.left);
    const high = Math.max(frame.top + 60, ...covers.map(box => box.bottom + 8));
    const up = own.top < high ? own.top - high : 0;
    const down = own.bottom + 60 > low ? own.bottom + 60 - low : 0;
    if (right || left || up || down) state.map.panBy([right || left, up || down], { duration: still() ? 0 : 200 });
  });
}
