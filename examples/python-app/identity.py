"""Who signed in, by the runtime protocol: the checks that every application makes, in any language."""

import json
import math
import os
import re
import threading
import time
import urllib.error
import urllib.request

import es256

ISSUER = os.environ["NNUMBERS_IDENTITY_ISSUER"]
APP_ID = os.environ["NNUMBERS_APP_ID"]
ORG_ID = os.environ["NNUMBERS_ORG_ID"]
BROKER_URL = os.environ["NNUMBERS_BROKER_URL"].rstrip("/")
TOLERANCE_SECONDS = 60
KEYS_MAX_AGE_SECONDS = 300
# An unknown kid must not be a way to make this application ask the broker on every request.
KEYS_PAUSE_SECONDS = 10
COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})")


class Refused(Exception):
    """The identity does not check out: the request is never a person's, and never anonymous."""


class NotReady(Exception):
    """Nobody can say now whether the identity checks out."""


class Keys:
    """The broker's public keys: those of the environment, and for an unknown kid those the broker publishes now."""

    def __init__(self, jwks):
        self._environment = _read(jwks)
        self._broker = {}
        self._fetched_at = self._asked_at = -math.inf
        self._lock = threading.Lock()

    def find(self, kid):
        if kid in self._environment:
            return self._environment[kid]
        with self._lock:
            now = time.monotonic()
            fresh = now - self._fetched_at < KEYS_MAX_AGE_SECONDS
            if not (kid in self._broker and fresh) and now - self._asked_at >= KEYS_PAUSE_SECONDS:
                self._asked_at = now
                self._fetch()
                fresh = now - self._fetched_at < KEYS_MAX_AGE_SECONDS
            if not fresh:
                raise NotReady
            if kid not in self._broker:
                raise Refused("unknown key")
            return self._broker[kid]

    def _fetch(self):
        try:
            with urllib.request.urlopen(f"{BROKER_URL}/v1/jwks", timeout=5) as answer:
                keys = _read(answer.read(256 * 1024))
        except (OSError, ValueError):
            return
        if keys:
            # Replaced, not added to: a withdrawn key goes.
            self._broker, self._fetched_at = keys, time.monotonic()


def _read(text):
    keys = {}
    for jwk in json.loads(text)["keys"]:
        try:
            keys[jwk["kid"]] = es256.public_key(jwk)
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return keys


KEYS = Keys(os.environ["NNUMBERS_IDENTITY_JWKS"])


def read_identity(values):
    """The claims of who signed in, or None for nobody. `values` are all X-NNumbers-Identity lines of the request."""
    if not values:
        return None
    if len(values) > 1 or len(values[0]) > 8192:
        raise Refused("repeated or too long")
    parts = COMPACT.fullmatch(values[0])
    if parts is None:
        raise Refused("not a compact JWS")
    try:
        header = json.loads(es256.base64url(parts[1]))
        claims = json.loads(es256.base64url(parts[2]))
        signature = es256.base64url(parts[3])
    except ValueError as error:
        raise Refused("malformed") from error
    if not isinstance(header, dict) or not isinstance(claims, dict) or "crit" in header:
        raise Refused("malformed")
    if header.get("alg") != "ES256" or header.get("typ") != "nn-identity+jwt":
        raise Refused("not an identity")
    kid = header.get("kid")
    if not isinstance(kid, str):
        raise Refused("no key id")
    if not es256.verify(KEYS.find(kid), f"{parts[1]}.{parts[2]}".encode(), signature):
        raise Refused("signature")
    _check(claims)
    return claims


def _check(claims):
    if claims.get("iss") != ISSUER or claims.get("aud") != APP_ID or claims.get("org") != ORG_ID:
        raise Refused("for somebody else")
    not_before, expires = claims.get("nbf"), claims.get("exp")
    for instant in (not_before, expires):
        if isinstance(instant, bool) or not isinstance(instant, (int, float)) or not math.isfinite(instant):
            raise Refused("no validity")
    now = time.time()
    if now < not_before - TOLERANCE_SECONDS or now >= expires + TOLERANCE_SECONDS:
        raise Refused("not valid now")
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise Refused("nobody")


def query(identity, sql, max_rows=1000):
    """Runs a query on behalf of the person of this identity: the status and the JSON of the broker's answer."""
    request = urllib.request.Request(
        f"{BROKER_URL}/v1/querymesh/query",
        data=json.dumps({"sql": sql, "max_rows": max_rows}).encode(),
        headers={"Content-Type": "application/json", "X-NNumbers-Identity": identity},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
    except OSError:
        return 503, {"code": "QUERYMESH_UNAVAILABLE", "message": "The broker did not answer."}
