// What survives: the session of this tab, and the settings as a link that anyone with the studio can open.

import { Api, createSession } from "./api.js";

const KEY = "evencut-session";

/** Hold a name for as long as this tab lives; false where another tab holds it (a copied tab brings its session along). */
function hold(name) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(`evencut-${name}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock === null ? undefined : new Promise(() => {});
    });
  });
}

/** The session of this tab, the same after a reload, never that of another tab. */
export async function openSession() {
  const old = sessionStorage.getItem(KEY);
  if (old && (await hold(old))) {
    const api = new Api(old);
    try {
      return { api, state: await api.get("") };
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
  const id = await createSession();
  sessionStorage.setItem(KEY, id);
  await hold(id);
  const api = new Api(id);
  return { api, state: await api.get("") };
}

/** Settings as the part of an address after #. */
export function toLink(settings) {
  const bytes = new TextEncoder().encode(JSON.stringify(settings));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The settings of a link; null where there are none that can be read. */
export function fromLink(hash) {
  const text = new URLSearchParams(hash.replace(/^#/, "")).get("s");
  if (!text) return null;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const settings = JSON.parse(new TextDecoder().decode(bytes));
    return settings && typeof settings === "object" ? settings : null;
  } catch {
    return null;
  }
}
