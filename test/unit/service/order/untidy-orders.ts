import fc from 'fast-check';

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('2024-03-01T10:00:00.000Z', '2024-03-01T10:00:00', '2024-02-30', '5'),
  fc.constantFrom(null, undefined),
);
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
const id = fc.oneof(number, fc.string(), fc.nat(5).map(String), fc.constant(null));
const event = fc.record({ id, created_at: text, status: text, status_detail: text }, { requiredKeys: [] });
const member = fc.record({ id: text, origin: text, parent_id: text, created_at: text }, { requiredKeys: [] });
const shipment = fc.option(fc.record({ outbound_courier: text }));
/** Orders as no specification writes them, all of which `orderSchema` accepts. */
export const untidyOrder = fc.record(
  {
    id: fc.string({ minLength: 1 }),
    user_id: text,
    status: text,
    created_at: text,
    updated_at: text,
    events: fc.option(fc.array(event)),
    last_event: fc.option(event),
    details: fc.option(fc.record({ type: text, data: fc.option(fc.record({ shipment })) })),
    order_transaction: fc.option(fc.record({ id: text, status: text, orders: fc.option(fc.array(member)) })),
    extra: fc.anything(),
  },
  { requiredKeys: ['id'] },
);
