import * as panels from './panels.js';
import * as map from './map.js';
import * as pin from './pin.js';
import * as area from './area.js';
import * as sketch from './sketch.js';
import * as events from './events.js';
import * as keys from './keys.js';
import * as forms from './forms.js';
import * as toast from './toast.js';
import { adaptPanels } from './symbols.js';

adaptPanels();
panels.start();
toast.start(panels.onChange);
forms.start();
keys.start();
events.start();
map.start().then(() => { pin.start(); area.start(); sketch.start(); });
