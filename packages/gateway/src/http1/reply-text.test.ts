import { expect, test } from 'vitest'
import { ReplyText } from './reply-text.ts'

test('An invalid header is refused each time, also after a valid reply', () => {
  const text = new ReplyText(() => 1e12)
  const invalid = ['retry-after', '1\r\nx: y']
  expect(text.of(200, ['content-length', '0'], undefined, false)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  for (let time = 0; time < 2; time += 1) {
    expect(() => text.of(503, invalid, undefined, true)).toThrow(/Invalid character in header content/)
  }
  expect(text.of(200, ['content-length', '0'], undefined, false)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})
