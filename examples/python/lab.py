"""Kit orders, with the messages of docs/messages.md. Their JSON Schemas are in client/schemas/."""

from typing import Any

from aiohttp import ClientSession
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

Json = dict[str, Any]


class NotYetPlaced(Exception):
    """The lab service has not accepted the order yet: ask again later."""


class Lab:
    def __init__(self, temporal: Client, task_queue: str, service: ClientSession) -> None:
        """`service` has the lab service's address as its base URL, and sends the API key."""
        self._temporal = temporal
        self._task_queue = task_queue
        self._service = service

    async def place(self, reference: str, order: Json) -> None:
        """One reference places one kit, however often this is called. Once it returns, no outage stops the order."""
        try:
            await self._temporal.start_workflow(
                "placeKitOrder",
                {"reference": reference, "kind": "unregistered", "order": order},
                id=f"place-kit-order/{reference}",
                task_queue=self._task_queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            )
        except WorkflowAlreadyStartedError:
            # It was placed before. Whether it was the same order is for you to compare: keep what you sent.
            return

    async def state(self, reference: str) -> Json:
        """The placing's state until the service has accepted the order, then the order's state."""
        placing: Json = await self._placing(reference).query("state")
        if "orderId" not in placing:
            return placing
        state: Json = await self._order(placing["orderId"]).query("state")
        return state

    async def register(self, reference: str, registration: Json) -> Json:
        """Raises WorkflowUpdateFailedError if the service refuses it; the order keeps waiting."""
        order = self._order(await self._order_id(reference))
        state: Json = await order.execute_update("register", {"registration": registration})
        return state

    async def results(self, reference: str) -> Json:
        """Lab values never enter Temporal: they are read from the lab service, for the order's latest kit."""
        state: Json = await self._order(await self._order_id(reference)).query("state")
        order_id = state["orderId"]
        async with self._service.get(f"/v3/order/{order_id}/result") as answer:
            answer.raise_for_status()
            results: Json = await answer.json()
            return results

    async def _order_id(self, reference: str) -> str:
        placing: Json = await self._placing(reference).query("state")
        if "orderId" not in placing:
            raise NotYetPlaced(reference)
        return str(placing["orderId"])

    def _placing(self, reference: str) -> WorkflowHandle[Any, Any]:
        return self._temporal.get_workflow_handle(f"place-kit-order/{reference}")

    def _order(self, order_id: str) -> WorkflowHandle[Any, Any]:
        return self._temporal.get_workflow_handle(f"kit-order/{order_id}")
