"""The payload codec of the lab-operations worker (docs/messages.md, "Encryption")."""

import base64
import copy
import dataclasses
import os
from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    ActivitySerializationContext,
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
    SerializationContext,
    WithSerializationContext,
    WorkflowSerializationContext,
    default,
)

NONCE_BYTES = 12
ENCODING = b"binary/encrypted"
AUTHENTICATED = ("encryption-key-id", "namespace", "workflow-id")


class PayloadMisplaced(Exception):
    """A payload was encrypted for another workflow or another namespace."""


def decoded(key: str) -> bytes:
    """Either alphabet of base64, with or without padding, as the worker takes it."""
    return base64.urlsafe_b64decode(key.rstrip("=").replace("+", "-").replace("/", "_") + "=" * (-len(key.rstrip("=")) % 4))


def authenticated(metadata: Mapping[str, bytes]) -> bytes:
    """Each part with its length before it; what is absent is empty."""
    parts = [metadata.get(name, b"") for name in AUTHENTICATED]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


class LabCodec(PayloadCodec, WithSerializationContext):
    """Encrypts whole payloads with AES-256-GCM, for one workflow. The first key encrypts; every key decrypts."""

    def __init__(self, keys: str) -> None:
        """`keys` is LABOPS_ENCRYPTION_KEYS: `<key id>:<32 bytes in base64>`, comma-separated."""
        pairs = [key.strip().split(":", 1) for key in keys.split(",") if key.strip()]
        self._ciphers = {key_id: AESGCM(decoded(key)) for key_id, key in pairs}
        self._first = pairs[0][0]
        self._place: dict[str, bytes] | None = None

    def with_context(self, context: SerializationContext) -> "LabCodec":
        """Temporal says which workflow the payloads belong to."""
        if not isinstance(context, WorkflowSerializationContext | ActivitySerializationContext):
            return self
        codec = copy.copy(self)
        codec._place = {"namespace": context.namespace.encode(), "workflow-id": (context.workflow_id or "").encode()}
        return codec

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._decrypt(payload) for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        metadata = {"encoding": ENCODING, "encryption-key-id": self._first.encode(), **(self._place or {})}
        nonce = os.urandom(NONCE_BYTES)
        text = self._ciphers[self._first].encrypt(nonce, payload.SerializeToString(), authenticated(metadata))
        return Payload(metadata=metadata, data=nonce + text)

    def _decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        cipher = self._ciphers[payload.metadata["encryption-key-id"].decode()]
        nonce, text = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        plain = cipher.decrypt(nonce, text, authenticated(payload.metadata))
        self._require_place(payload.metadata)
        return Payload.FromString(plain)

    def _require_place(self, metadata: Mapping[str, bytes]) -> None:
        """A payload without a workflow's id belongs to every workflow of its namespace."""
        if self._place is None:
            return
        namespace, workflow_id = (metadata.get(name, b"") for name in ("namespace", "workflow-id"))
        if namespace != self._place["namespace"] or workflow_id not in (b"", self._place["workflow-id"]):
            raise PayloadMisplaced


def data_converter(keys: str) -> DataConverter:
    """Builds the data converter, which also encrypts failure messages, as the worker requires."""
    return dataclasses.replace(
        default(),
        payload_codec=LabCodec(keys),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
