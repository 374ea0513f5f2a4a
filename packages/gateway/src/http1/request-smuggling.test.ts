import { describe, expect, test } from 'vitest'
import { onBothPaths } from '../ingest/both-paths.harness.ts'
import { front, head, open, post, start } from '../ingest/http-front.harness.ts'

const CRLF = '\r\n'
const good = `host: gateway${CRLF}authorization: Bearer good${CRLF}content-type: application/json${CRLF}`
const requestLine = `POST /v1/traces HTTP/1.1${CRLF}`
/** A request that is harmless as a body. */
const hidden = `${requestLine}${good}content-length: 6${CRLF}${CRLF}hidden`

/** Sends a stream, waits until the gateway has closed the connection, and returns what it has answered. */
async function answersTo(...pieces: readonly (string | Buffer)[]): Promise<number[]> {
  const client = await open()
  for (const piece of pieces) await new Promise<void>((resolve) => client.socket.write(piece, () => resolve()))
  const statuses: number[] = []
  for (;;) {
    const reply = await client.reply().catch(() => undefined)
    if (reply === undefined) return statuses
    statuses.push(reply.status)
    if (reply.headers.connection === 'close') await client.closed
  }
}

const last = { connection: 'close' }
const bodiesOf = () => front.ingest.sent.map(({ body }) => body.toString('latin1'))

onBothPaths(() => {
  describe('P-17: a hidden request', () => {
    test.each<[string, string]>([
      ['after a length and chunks', `content-length: 5${CRLF}transfer-encoding: chunked${CRLF}${CRLF}0${CRLF}${CRLF}`],
      ['after chunks and a length', `transfer-encoding: chunked${CRLF}content-length: 5${CRLF}${CRLF}0${CRLF}${CRLF}`],
      ['after two lengths', `content-length: 0${CRLF}content-length: 130${CRLF}${CRLF}`],
      ['after two equal lengths', `content-length: 0${CRLF}content-length: 0${CRLF}${CRLF}`],
      ['after a list of lengths', `content-length: 0, 0${CRLF}${CRLF}`],
      ['after a length with a sign', `content-length: +0${CRLF}${CRLF}`],
      ['after a length in hexadecimal digits', `content-length: 0x0${CRLF}${CRLF}`],
      ['after a length that ends with NUL', `content-length: 0\0${CRLF}${CRLF}`],
      ['after a length of 20 digits', `content-length: 18446744073709551616${CRLF}${CRLF}`],
      ['after a name with a blank', `content-length : 0${CRLF}${CRLF}`],
      ['after a folded length', `content-length:${CRLF} 0${CRLF}${CRLF}`],
      ['after a folded Transfer-Encoding', `transfer-encoding:${CRLF} chunked${CRLF}content-length: 0${CRLF}${CRLF}`],
      ['after Transfer-Encoding with a vertical tab', `transfer-encoding: \x0bchunked${CRLF}${CRLF}0${CRLF}${CRLF}`],
      ['after an unknown coding', `transfer-encoding: xchunked${CRLF}content-length: 0${CRLF}${CRLF}`],
      ['after lines that end with LF', `content-length: 0\n\n`],
      ['after a line that ends with CR', `content-length: 0\r${CRLF}${CRLF}`],
      ['behind a bare CR in a value', `x-a: b\rcontent-length: 0${CRLF}content-length: 0${CRLF}${CRLF}`],
    ])('%s is not served', async (_, lines) => {
      await start()
      expect(await answersTo(`${requestLine}${good}${lines}${hidden}`)).toEqual([400])
      expect(bodiesOf()).toEqual([])
    })

    test.each<[string, string]>([
      ['a name with an underscore', 'content_length: 0'],
      ['a header that names it', 'x-content-length: 0'],
      ['a value', 'x-a: content-length: 0'],
    ])('is a body, whatever %s says', async (_, line) => {
      await start()
      const lines = `${line}${CRLF}content-length: ${hidden.length}${CRLF}connection: close${CRLF}${CRLF}`
      expect(await answersTo(`${requestLine}${good}${lines}${hidden}`)).toEqual([200])
      expect(bodiesOf()).toEqual([hidden])
    })

    test('is a body also if it arrives in pieces', async () => {
      await start()
      front.ingest.bufferLimitBytes = 0
      const whole = post(hidden, last)
      for (const at of [whole.length - hidden.length, whole.length - hidden.length + 1, whole.length - 1]) {
        expect(await answersTo(whole.subarray(0, at), whole.subarray(at))).toEqual([200])
      }
      expect(bodiesOf()).toEqual([hidden, hidden, hidden])
    })

    test('is the body of a refused request, which is read to its end', async () => {
      await start()
      const refused = post(hidden, { authorization: 'Bearer bad' })
      const answers = await answersTo(Buffer.concat([refused, post('next', last)]))
      expect(answers).toEqual([401, 200])
      expect(bodiesOf()).toEqual(['next'])
    })
  })

  describe('a connection with other requests than those of exporters', () => {
    const chunked = `${head({ 'transfer-encoding': 'chunked' })}3${CRLF}abc${CRLF}0${CRLF}${CRLF}`

    test.each<[string, readonly (string | Buffer)[], readonly number[], readonly string[]]>([
      ['first', [chunked, post('b'), post('c', last)], [200, 200, 200], ['abc', 'b', 'c']],
      ['in the middle', [post('a'), chunked, post('c', last)], [200, 200, 200], ['a', 'abc', 'c']],
      [
        'behind the first one',
        [Buffer.concat([post('a'), Buffer.from(chunked), post('c', last)])],
        [200, 200, 200],
        ['a', 'abc', 'c'],
      ],
      [
        'in a head of two pieces',
        [post('a'), post('b').subarray(0, 30), post('b').subarray(30), post('c', last)],
        [200, 200, 200],
        ['a', 'b', 'c'],
      ],
      ['an unknown path', [post('a'), post('b', {}, '/v1/spans'), post('c', last)], [200, 404, 200], ['a', 'c']],
      ['noise', [post('a'), `noise${CRLF}${CRLF}`], [200, 400], ['a']],
      ['a method in lower case', [post('a'), post('b').toString().replace('POST', 'post')], [200, 400], ['a']],
    ])('%s: answers all of them in their order', async (_, pieces, statuses, bodies) => {
      await start()
      const client = await open()
      const answered: number[] = []
      for (const piece of pieces) {
        client.send(piece)
        // A head of two pieces has no answer between them.
        if (pieces.length > 1 && !(piece instanceof Buffer && !piece.includes('\r\n\r\n'))) {
          answered.push((await client.reply()).status)
        }
      }
      while (answered.length < statuses.length) answered.push((await client.reply()).status)
      expect(answered).toEqual(statuses)
      // Requests that arrive together are forwarded together.
      expect(bodiesOf().toSorted()).toEqual(bodies.toSorted())
      await client.closed
    })
  })

  test('E-2: checks every request of a connection, although its head is repeated', async () => {
    await start()
    const client = await open()
    for (const body of ['a', 'bb', 'a', 'ccc'.repeat(100), '']) {
      expect(await client.send(post(body)).reply()).toMatchObject({ status: 200 })
    }
    front.ingest.admit = () => ({ admitted: false, refusal: { kind: 'unauthenticated', message: 'Revoked.' } })
    expect(await client.send(post('a')).reply()).toMatchObject({ status: 401 })
    expect(bodiesOf()).toEqual(['a', 'bb', 'a', 'ccc'.repeat(100)])
    expect(front.ingest.sent.map(({ call }) => call.declaredBytes)).toEqual([1, 2, 1, 300])
  })
})
