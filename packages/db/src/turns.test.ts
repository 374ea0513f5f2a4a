import { expect, test } from 'vitest'
import { QueueFullError, Turns } from './turns.ts'

test('one after another, and between two of them others get their turn', async () => {
  const turns = new Turns()
  const order: string[] = []
  setImmediate(() => order.push('somebody else'))
  await Promise.all(['first', 'second'].map((name) => turns.take(async () => order.push(name))))
  expect(order).toEqual(['first', 'somebody else', 'second'])
})

test('one that fails holds up none, and of too many the last is refused', async () => {
  const turns = new Turns(2)
  const failing = turns.take(() => Promise.reject(new Error('no')))
  const next = turns.take(async () => 'done')
  await expect(turns.take(async () => 'too many')).rejects.toThrow(QueueFullError)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
  expect(await turns.take(async () => 'again')).toBe('again')
})
