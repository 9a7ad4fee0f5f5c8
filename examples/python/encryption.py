"""The payload codec of the lab-operations worker (docs/messages.md, "Encryption")."""

import base64
import dataclasses
import os
from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    default,
)

NONCE_BYTES = 12
ENCODING = b"binary/encrypted"


def decoded(key: str) -> bytes:
    """Either alphabet of base64, with or without padding, as the worker takes it."""
    return base64.urlsafe_b64decode(key.rstrip("=").replace("+", "-").replace("/", "_") + "=" * (-len(key.rstrip("=")) % 4))


class LabCodec(PayloadCodec):
    """Encrypts whole payloads with AES-256-GCM. The first key encrypts; every key decrypts."""

    def __init__(self, keys: str) -> None:
        """`keys` is LABOPS_ENCRYPTION_KEYS: `<key id>:<32 bytes in base64>`, comma-separated."""
        pairs = [key.strip().split(":", 1) for key in keys.split(",") if key.strip()]
        self._ciphers = {key_id: AESGCM(decoded(key)) for key_id, key in pairs}
        self._first = pairs[0][0]

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._decrypt(payload) for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        key_id = self._first.encode()
        nonce = os.urandom(NONCE_BYTES)
        text = self._ciphers[self._first].encrypt(nonce, payload.SerializeToString(), key_id)
        metadata = {"encoding": ENCODING, "encryption-key-id": key_id}
        return Payload(metadata=metadata, data=nonce + text)

    def _decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        key_id = payload.metadata["encryption-key-id"]
        nonce, text = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        return Payload.FromString(self._ciphers[key_id.decode()].decrypt(nonce, text, key_id))


def data_converter(keys: str) -> DataConverter:
    """Builds the data converter, which also encrypts failure messages, as the worker requires."""
    return dataclasses.replace(
        default(),
        payload_codec=LabCodec(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
