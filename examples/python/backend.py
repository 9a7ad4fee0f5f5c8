"""A small product backend: it orders kits, registers them, shows their state and results, and receives notifications."""

import asyncio
import json
import os
from pathlib import Path

from aiohttp import ClientSession, web
from standardwebhooks import Webhook, WebhookVerificationError
from temporalio.client import Client, WorkflowUpdateFailedError

from encryption import data_converter
from lab import Json, Lab, NotYetPlaced

MAX_BODY_BYTES = 64 * 1024


class Backend:
    def __init__(self, lab: Lab, notify_secret: str) -> None:
        self._lab = lab
        self._webhook = Webhook(notify_secret)
        # In your backend: a table, written in the transaction that handles the event.
        self._received: dict[str, Json] = {}

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.add_routes(
            [
                web.put("/orders/{reference}", self.place),
                web.get("/orders/{reference}", self.show),
                web.post("/orders/{reference}/registration", self.register),
                web.get("/orders/{reference}/results", self.results),
                web.get("/orders/{reference}/events", self.events),
                web.post("/notifications", self.notified),
            ]
        )
        return app

    async def place(self, request: web.Request) -> web.Response:
        await self._lab.place(request.match_info["reference"], await request.json())
        return web.Response(status=202)

    async def show(self, request: web.Request) -> web.Response:
        return web.json_response(await self._lab.state(request.match_info["reference"]))

    async def register(self, request: web.Request) -> web.Response:
        reference = request.match_info["reference"]
        try:
            return web.json_response(await self._lab.register(reference, await request.json()))
        except NotYetPlaced:
            return web.json_response({"error": "not_yet_placed"}, status=409)
        except WorkflowUpdateFailedError as refused:
            return web.json_response({"error": getattr(refused.cause, "type", None)}, status=422)

    async def results(self, request: web.Request) -> web.Response:
        try:
            return web.json_response(await self._lab.results(request.match_info["reference"]))
        except NotYetPlaced:
            return web.json_response({"error": "not_yet_placed"}, status=409)

    async def events(self, request: web.Request) -> web.Response:
        reference = request.match_info["reference"]
        events = [event for event in self._received.values() if event["data"].get("reference") == reference]
        return web.json_response(events)

    async def notified(self, request: web.Request) -> web.Response:
        """A 2xx settles a notification; a 4xx refuses it for good, except 408, 409, 425 and 429; anything else is sent again, with the same id."""
        try:
            event: Json = self._webhook.verify(await request.read(), dict(request.headers))
        except WebhookVerificationError:
            return web.Response(status=401)
        self._received.setdefault(event["id"], event)
        return web.Response(status=204)


def service() -> tuple[str, str]:
    """The lab service's address and brand, by the same settings as the worker's: a description says how the deployment differs."""
    file = os.environ.get("SERVICE_DESCRIPTION")
    description: Json = json.loads(Path(file).read_text()) if file else {}
    brand = os.environ.get("SERVICE_BRAND") or description.get("brand", "service")
    environment = os.environ.get("SERVICE_ENVIRONMENT")
    address = description["addresses"][environment] if environment else os.environ["SERVICE_BASE_URL"]
    return address, brand


async def main() -> None:
    temporal = await Client.connect(
        os.environ["TEMPORAL_ADDRESS"],
        namespace=os.environ.get("TEMPORAL_NAMESPACE", "default"),
        data_converter=data_converter(os.environ["LABOPS_ENCRYPTION_KEYS"]),
    )
    address, brand = service()
    headers = {f"x-{brand}-api-key": os.environ["SERVICE_API_KEY"]}
    async with ClientSession(address, headers=headers) as session:
        lab = Lab(temporal, os.environ.get("TASK_QUEUE", "lab-operations"), session)
        runner = web.AppRunner(Backend(lab, os.environ["NOTIFY_SECRET"]).app())
        await runner.setup()
        port = int(os.environ.get("PORT", "4000"))
        await web.TCPSite(runner, "127.0.0.1", port).start()
        print(f"listening on http://127.0.0.1:{port}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
