// The secret of this studio: taken out of the address, kept by the browser for this origin only, and sent in a header.
// Not in a cookie: those go to every port of the host.

const KEY = "evencut-token";

export const keptToken = () => localStorage.getItem(KEY);
export const forgetToken = () => localStorage.removeItem(KEY);

/** Take the token out of the address, so that it stands in no copied link. */
export function takeToken() {
  const token = new URLSearchParams(location.search).get("token");
  if (!token) return;
  localStorage.setItem(KEY, token);
  history.replaceState(null, "", location.pathname + location.hash);
}

export const authorization = () => ({ authorization: `Bearer ${keptToken() ?? ""}` });
