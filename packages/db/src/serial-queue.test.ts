import { expect, test } from 'vitest'
import { QueueFullError, SerialQueue } from './serial-queue.ts'

test('one after another, and between two of them others get their turn', async () => {
  const queue = new SerialQueue()
  const order: string[] = []
  setImmediate(() => order.push('somebody else'))
  await Promise.all(['first', 'second'].map((name) => queue.run(async () => order.push(name))))
  expect(order).toEqual(['first', 'somebody else', 'second'])
})

test('one that fails holds up none, and of too many the last is refused', async () => {
  const queue = new SerialQueue(2)
  const failing = queue.run(() => Promise.reject(new Error('no')))
  const next = queue.run(async () => 'done')
  await expect(queue.run(async () => 'too many')).rejects.toThrow(QueueFullError)
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('done')
  expect(await queue.run(async () => 'again')).toBe('again')
})
