import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPassthrough, rootOf, writePassthrough } from '../../../protocol/order/root-order.js';
import { isInstallationName, signed, signerOf, unsigned, type Installation } from '../../../service/installation.js';
import { orderSchema } from '../../../service/order/order.js';
import { snapshotOf } from '../../../service/order/projection.js';

const names = fc.stringMatching(/^[A-Za-z0-9._-]{1,32}$/);
const references = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);
const ids = fc.uuid();

test('what an installation signed is its own, under its name and its former ones', () => {
  fc.assert(
    fc.property(names, names, ids, references, (name, later, root, reference) => {
      const text = writePassthrough({ root, reference, n: 2 });
      const sent = signed(text, [name]);
      expect(sent.length).toBeLessThan(255);
      expect(signerOf(sent)).toBe(name);
      expect(unsigned(sent, [name])).toBe(text);
      expect(unsigned(sent, [later, name])).toBe(text);
    }),
  );
});

test('an order that another installation signed belongs to no reference and no chain here', () => {
  fc.assert(
    fc.property(names, names, ids, references, (name, other, root, reference) => {
      fc.pre(name !== other);
      const passthrough = signed(writePassthrough({ root, reference, n: 2 }), [other]);
      const snapshot = snapshotOf(orderSchema.parse({ id: 'order-1', passthrough }), [name]);
      expect(snapshot).not.toHaveProperty('passthrough');
      expect(rootOf(snapshot)).toBe('order-1');
      // What is signed is never read as if it were not.
      expect(readPassthrough(passthrough)).toBeUndefined();
    }),
  );
});

test('a text without the signature of this installation is not its own', () => {
  const ours: Installation = ['ours', 'a'];
  const others = [
    'labops:-:ref-1:1',
    'labops/:-:ref-1:1',
    'labops/a/b:-:ref-1:1',
    'labops/Ours:-:ref-1:1',
    'ours',
    '',
    null,
  ];
  for (const text of others) expect(unsigned(text, ours), String(text)).toBeUndefined();
});

test('a name cannot contain what separates the parts of a passthrough', () => {
  for (const name of ['a:b', 'a/b', 'a b', '', 'é', 'x'.repeat(33)]) expect(isInstallationName(name), name).toBe(false);
});
