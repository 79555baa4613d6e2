/**
 * Signs somebody in the way a browser does: from the edge to the IAM and back, by HTTP, with a cookie jar of its own.
 * Gives the cookies the edge set in its last answer. The IAM's single sign-on is left behind with the jar.
 */
export async function visitSignIn(edgeUrl: string, loginHint: string): Promise<Map<string, string>> {
  const jar = new Map<string, string>();
  const callback = new URL('/.nnumbers/auth/callback', edgeUrl);
  let url = new URL('/.nnumbers/auth/login', edgeUrl);
  url.searchParams.set('login_hint', loginHint);
  const maxSteps = 12;
  for (let step = 0; step < maxSteps; step += 1) {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookieHeader(jar) } });
    await response.arrayBuffer();
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) break;
    if (url.origin === callback.origin && url.pathname === callback.pathname) return jar;
    url = new URL(location, url);
  }
  throw new Error('the sign-in did not come back to the edge');
}

const cookieHeader = (jar: Map<string, string>): string =>
  [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
