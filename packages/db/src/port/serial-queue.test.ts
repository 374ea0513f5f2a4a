import { expect, test } from 'vitest'
import { QueueFullError, SerialQueue } from './serial-queue.ts'

test('runs tasks one after another, with a turn of the event loop in between', async () => {
  const queue = new SerialQueue()
  const order: string[] = []
  setImmediate(() => order.push('event loop'))
  await Promise.all(['first', 'second'].map((name) => queue.run(async () => order.push(name))))
  expect(order).toEqual(['first', 'event loop', 'second'])
})

test('continues after a failed task, and rejects tasks beyond the maximum', async () => {
  const queue = new SerialQueue(2)
  const failing = queue.run(() => Promise.reject(new Error('no')))
  const next = queue.run(async () => 'done')
  await expect(queue.run(async () => 'too many')).rejects.toThrow(QueueFullError)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
  expect(await queue.run(async () => 'again')).toBe('again')
})
