import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { ConnectionTable } from './connection-table.ts'

const limits = { maxConnections: 3, maxPerAddress: 2, reserve: 1 }
const busy = new Set<string>()
beforeEach(() => busy.clear())
const tableOf = (changes: Partial<typeof limits> = {}) =>
  new ConnectionTable<string>({ ...limits, ...changes }, (name) => busy.has(name))

function begin(table: ConnectionTable<string>, name: string): void {
  table.setState(name, 'active')
  busy.add(name)
}
const admitted = (connectionClass: 'general' | 'reserve', evicted?: string) => ({
  admitted: true,
  class: connectionClass,
  evicted,
})

test('a full table evicts the connection that has waited longest', () => {
  const table = tableOf()
  expect(['a', 'b', 'c'].map((name) => table.add(name, name))).toEqual(Array(3).fill(admitted('general')))
  begin(table, 'a')
  expect(table.add('d', 'd')).toEqual(admitted('general', 'b'))
  expect(table.add('e', 'e')).toEqual(admitted('general', 'c'))
})

test('evicts leaving connections first, then those without a request, then idle ones, and never busy ones', () => {
  const table = tableOf()
  for (const name of ['idle', 'waiting', 'leaving']) table.add(name, name)
  begin(table, 'idle')
  busy.delete('idle')
  table.setState('leaving', 'leaving')
  const evicted = ['x', 'y', 'z'].map((name) => {
    const admission = table.add(name, name)
    begin(table, name)
    return admission
  })
  expect(evicted).toEqual(['leaving', 'waiting', 'idle'].map((name) => admitted('general', name)))
  expect(table.add('late', 'late')).toEqual(admitted('reserve'))
})

test('an address at its limit evicts its own connections, and enters the reserve if all are busy', () => {
  const table = tableOf()
  table.add('other', 'b')
  table.add('first', 'a')
  table.add('second', 'a')
  expect(table.add('third', 'a')).toEqual(admitted('general', 'first'))
  begin(table, 'second')
  begin(table, 'third')
  expect(table.add('fourth', 'a')).toEqual(admitted('reserve'))
})

test('an exempt address is subject only to the limit for all addresses', () => {
  const table = tableOf()
  expect(['a', 'b', 'c'].map((name) => table.add(name, undefined))).toEqual(Array(3).fill(admitted('general')))
})

test('a full reserve evicts its oldest connection without a request, and refuses new ones if all are busy', () => {
  const table = tableOf({ maxConnections: 0 })
  expect(table.add('first', 'a')).toEqual(admitted('reserve'))
  expect(table.add('second', 'a')).toEqual(admitted('reserve', 'first'))
  begin(table, 'second')
  expect(table.add('third', 'a')).toEqual({ admitted: false })
})

test('a reserved connection becomes a general one when there is room', () => {
  const table = tableOf({ maxConnections: 1 })
  table.add('first', 'a')
  begin(table, 'first')
  table.add('second', 'b')
  expect(table.classOf('second')).toBe('reserve')
  table.remove('first')
  expect(table.classOf('second')).toBe('general')
  expect(table.add('third', 'c')).toEqual(admitted('general', 'second'))
})

test('exceeds no limit in any sequence of operations', () => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'remove', 'active', 'leaving', 'class'),
    id: fc.nat(30),
    address: fc.constantFrom('a', 'b', 'c', undefined),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const bounds = { maxConnections: 5, maxPerAddress: 2, reserve: 2 }
      const table = new ConnectionTable<number>(bounds, (id) => id % 2 === 0)
      const open = new Map<number, string | undefined>()
      for (const { kind, id, address } of steps) {
        if (kind === 'remove') {
          table.remove(id)
          open.delete(id)
        } else if (kind === 'class') table.classOf(id)
        else if (kind !== 'add') table.setState(id, kind as 'active')
        else if (!open.has(id)) {
          const admission = table.add(id, address)
          if (!admission.admitted) continue
          if (admission.evicted !== undefined) open.delete(admission.evicted)
          open.set(id, address)
        }
        expect(open.size).toBeLessThanOrEqual(7)
        const perAddress = ['a', 'b', 'c'].map((name) => [...open.values()].filter((one) => one === name).length)
        expect(Math.max(...perAddress)).toBeLessThanOrEqual(bounds.maxPerAddress + bounds.reserve)
      }
    }),
  )
})

test('a search of a full table examines few connections, and other ones the next time', () => {
  let looks = 0
  const table = new ConnectionTable<number>({ maxConnections: 200, maxPerAddress: 200, reserve: 9 }, (id) => {
    looks += 1
    return id !== 150
  })
  for (let id = 0; id < 200; id += 1) {
    table.add(id, undefined)
    table.setState(id, 'active')
  }
  const evicted = [1_000, 1_001, 1_002].map((id) => {
    const admission = table.add(id, undefined)
    return admission.admitted && admission.evicted
  })
  expect(evicted).toEqual([undefined, undefined, 150])
  expect(looks).toBe(151)
})
