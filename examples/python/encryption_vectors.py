"""Checks the codec against ../encryption-vectors.json; prints how many vectors it has read."""

import asyncio
import base64
import json
import pathlib

from cryptography.exceptions import InvalidTag
from encryption import LabCodec, PayloadMisplaced
from temporalio.api.common.v1 import Payload
from temporalio.converter import WorkflowSerializationContext


def payload(shown: dict) -> Payload:
    metadata = {name: base64.b64decode(value) for name, value in shown["metadata"].items()}
    return Payload(metadata=metadata, data=base64.b64decode(shown["data"]))


async def outcome(codec: LabCodec, encrypted: Payload) -> object:
    try:
        return (await codec.decode([encrypted]))[0]
    except PayloadMisplaced:
        return "misplaced"
    except InvalidTag:
        return "not authentic"


async def main() -> None:
    vectors = json.loads((pathlib.Path(__file__).parent.parent / "encryption-vectors.json").read_text())
    codec = LabCodec(vectors["keys"])
    for vector in vectors["vectors"]:
        here = vector.get("readIn")
        reader = codec.with_context(WorkflowSerializationContext(here["namespace"], here["workflowId"])) if here else codec
        expected = vector["outcome"] if isinstance(vector["outcome"], str) else payload(vector["outcome"])
        assert await outcome(reader, payload(vector["encrypted"])) == expected, vector["what"]
        if isinstance(expected, Payload) and here:
            assert await outcome(reader, (await reader.encode([expected]))[0]) == expected, vector["what"]
    print(len(vectors["vectors"]), "vectors")


asyncio.run(main())
