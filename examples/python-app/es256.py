"""ES256 (RFC 7518 section 3.4) with the standard library alone: ECDSA on P-256 (FIPS 186-5 section 6.4.2) over SHA-256.

It checks signatures and never makes one, so no secret passes through arithmetic whose time depends on its operands.
A real application takes a well-kept library, such as `cryptography`.
"""

import base64
import hashlib
import re

P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def base64url(text):
    """The bytes of unpadded base64url in its one canonical spelling; ValueError for anything else."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", text):
        raise ValueError("not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != text:
        raise ValueError("not canonical")
    return data


def public_key(jwk):
    """The point of a P-256 signing key; ValueError for any other key."""
    if jwk.get("kty") != "EC" or jwk.get("crv") != "P-256" or "d" in jwk or jwk.get("use", "sig") != "sig":
        raise ValueError("not a public P-256 signing key")
    x, y = (int.from_bytes(base64url(jwk[name]), "big") for name in ("x", "y"))
    if not (0 <= x < P and 0 <= y < P) or (y * y - x * x * x + 3 * x - B) % P != 0:
        raise ValueError("not a point of the curve")
    return x, y


def verify(key, message, signature):
    """Whether the 64 bytes r and s are the key's signature of the message."""
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if len(signature) != 64 or not (0 < r < N and 0 < s < N):
        return False
    digest = int.from_bytes(hashlib.sha256(message).digest(), "big")
    w = pow(s, -1, N)
    point = _add(_multiply(digest * w % N, G), _multiply(r * w % N, key))
    return point is not None and point[0] % N == r


def _add(first, second):
    """The sum of two points; None is the point at infinity."""
    if first is None or second is None:
        return first or second
    (x1, y1), (x2, y2) = first, second
    if x1 == x2:
        if (y1 + y2) % P == 0:
            return None
        slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P)
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def _multiply(factor, point):
    result = None
    while factor:
        if factor & 1:
            result = _add(result, point)
        point = _add(point, point)
        factor >>= 1
    return result
