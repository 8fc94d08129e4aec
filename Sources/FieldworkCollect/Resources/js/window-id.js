// Names this window, so that the process doesn't tell it what it has just done itself.
export const windowID = crypto.randomUUID();
