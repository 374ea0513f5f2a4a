import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ConnectionTable } from './connection-table.ts'

const limits = { maxConnections: 3, maxPerAddress: 2, reserve: 1 }
const admitted = (connectionClass: 'general' | 'reserve', evicted?: string) => ({
  admitted: true,
  class: connectionClass,
  evicted,
})

test('a full table gives the place of the connection that has waited longest', () => {
  const table = new ConnectionTable<string>(limits)
  expect(['a', 'b', 'c'].map((name) => table.add(name, name))).toEqual(Array(3).fill(admitted('general')))
  table.setState('a', 'busy')
  expect(table.add('d', 'd')).toEqual(admitted('general', 'b'))
  expect(table.add('e', 'e')).toEqual(admitted('general', 'c'))
})

test('connections that are leaving go first, then those without a first request, then idle ones, never busy ones', () => {
  const table = new ConnectionTable<string>(limits)
  for (const name of ['idle', 'waiting', 'leaving']) table.add(name, name)
  table.setState('idle', 'busy')
  table.setState('idle', 'idle')
  table.setState('leaving', 'leaving')
  const evicted = ['x', 'y', 'z'].map((name) => {
    const admission = table.add(name, name)
    table.setState(name, 'busy')
    return admission
  })
  expect(evicted).toEqual(['leaving', 'waiting', 'idle'].map((name) => admitted('general', name)))
  expect(table.add('late', 'late')).toEqual(admitted('reserve'))
})

test('an address at its limit evicts its own connections, and enters the reserve if all are busy', () => {
  const table = new ConnectionTable<string>(limits)
  table.add('other', 'b')
  table.add('first', 'a')
  table.add('second', 'a')
  expect(table.add('third', 'a')).toEqual(admitted('general', 'first'))
  table.setState('second', 'busy')
  table.setState('third', 'busy')
  expect(table.add('fourth', 'a')).toEqual(admitted('reserve'))
})

test('an exempt address has only the limit of all addresses', () => {
  const table = new ConnectionTable<string>(limits)
  expect(['a', 'b', 'c'].map((name) => table.add(name, undefined))).toEqual(Array(3).fill(admitted('general')))
})

test('a full reserve evicts its oldest connection without a request, and refuses when it is busy', () => {
  const table = new ConnectionTable<string>({ ...limits, maxConnections: 0 })
  expect(table.add('first', 'a')).toEqual(admitted('reserve'))
  expect(table.add('second', 'a')).toEqual(admitted('reserve', 'first'))
  table.setState('second', 'busy')
  expect(table.add('third', 'a')).toEqual({ admitted: false })
})

test('a reserved connection becomes a general one when there is room', () => {
  const table = new ConnectionTable<string>({ ...limits, maxConnections: 1 })
  table.add('first', 'a')
  table.setState('first', 'busy')
  table.add('second', 'b')
  expect(table.classOf('second')).toBe('reserve')
  table.remove('first')
  expect(table.classOf('second')).toBe('general')
  expect(table.add('third', 'c')).toEqual(admitted('general', 'second'))
})

test('whatever happens, no limit is exceeded', () => {
  const step = fc.record({
    kind: fc.constantFrom('add', 'remove', 'busy', 'idle', 'leaving', 'class'),
    id: fc.nat(30),
    address: fc.constantFrom('a', 'b', 'c', undefined),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const bounds = { maxConnections: 5, maxPerAddress: 2, reserve: 2 }
      const table = new ConnectionTable<number>(bounds)
      const open = new Map<number, string | undefined>()
      for (const { kind, id, address } of steps) {
        if (kind === 'remove') {
          table.remove(id)
          open.delete(id)
        } else if (kind === 'class') table.classOf(id)
        else if (kind !== 'add') table.setState(id, kind as 'busy')
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
