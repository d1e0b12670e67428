// The page for visitors without the token: one who was here before is let in by the token that the browser kept.

import { forgetToken, keptToken } from "./token.js";

if (new URLSearchParams(location.search).has("token")) forgetToken();
else if (keptToken()) location.replace(`/?token=${encodeURIComponent(keptToken())}${location.hash}`);
