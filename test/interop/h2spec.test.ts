import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { certificateAuthority } from '../gateway/certificates.ts'
import { EXPORT_TRACES } from '../gateway/grpc-call.ts'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import { describeWithProgram, preparedPaths } from './prepared.ts'

/** A case of h2spec that fails, although the behaviour is known. */
interface Deviation {
  /** The section and the number of the case: `h2spec http2/6.7/2` runs it alone. */
  readonly id: string
  readonly reason: string
  /** Whether the case can also pass. Absent: it must fail, so that a row without a use is noticed. */
  readonly canPass?: true
  /** The connections to which the row applies. Absent: both. */
  readonly only?: 'clear text' | 'TLS'
}

const forgotten = 'nghttp2 forgets a closed stream and ignores its frames; RFC 9113, 5.1, demands no error any more'
const answeredFirst =
  'can be answered before the second frame arrives; the stream is closed then, so this is like 5.1/11'

/** The deviations of the gateway's own reader. */
const ofGateway: readonly Deviation[] = [
  {
    id: 'http2/3.5/2',
    reason:
      'a connection without the preface is read as HTTP/1.1, answered with 400 and closed; h2spec expects no answer',
    only: 'clear text',
  },
]

/** The deviations of node:http2. */
const ofNode: readonly Deviation[] = [
  ...ofGateway,
  { id: 'http2/5.1/5', reason: answeredFirst, canPass: true },
  { id: 'http2/5.1/6', reason: answeredFirst, canPass: true },
  { id: 'http2/5.1/8', reason: forgotten },
  { id: 'http2/5.1/9', reason: forgotten },
  { id: 'http2/5.1/11', reason: forgotten },
  { id: 'http2/5.1/12', reason: forgotten },
  { id: 'http2/5.1.1/2', reason: 'nghttp2 takes a lower stream id for that of a stream that it has forgotten' },
  { id: 'http2/6.1/2', reason: answeredFirst, canPass: true },
  { id: 'http2/6.7/2', reason: 'Node closes the connection on a PING with ACK that answers no PING of its own' },
  { id: 'http2/6.9.1/2', reason: 'Node sends GOAWAY with INTERNAL_ERROR instead of FLOW_CONTROL_ERROR' },
  { id: 'http2/6.9.1/3', reason: answeredFirst, canPass: true },
]

const readers = [
  { reader: 'PENSTOCK_FAST_PATH unset', env: {}, deviations: ofGateway },
  { reader: 'PENSTOCK_FAST_PATH=false', env: { PENSTOCK_FAST_PATH: 'false' }, deviations: ofNode },
]

const ports = [
  { port: 'http', path: '/v1/traces' },
  { port: 'grpc', path: EXPORT_TRACES },
] as const

/** The number of cases of h2spec 2.2.1, including the strict ones. */
const CASES = 146

describeWithProgram('h2spec', ['h2spec'], () => {
  for (const { reader, env, deviations } of readers) {
    test.each(['clear text', 'TLS'] as const)(`only known cases fail (${reader}, %s)`, async (connection) => {
      const isTls = connection === 'TLS'
      await using gateway = await ProcessGateway.start({ env: { ...env, ...(isTls && tlsEnvironment()) } })
      const known = deviations.filter(({ only = connection }) => only === connection)
      for (const { port, path } of ports) {
        const { cases, failed } = await runH2spec(gateway.ports[port], path, isTls)
        expect(cases).toBe(CASES)
        const unknown = [...failed].filter(([id]) => !known.some((row) => row.id === id))
        expect(unknown).toEqual([])
        expect(known.filter(({ id, canPass }) => !canPass && !failed.has(id))).toEqual([])
      }
    })
  }
})

function tlsEnvironment(): Record<string, string> {
  const { certFile, keyFile } = certificateAuthority().issue('server')
  return { PENSTOCK_TLS_CERT_FILE: certFile, PENSTOCK_TLS_KEY_FILE: keyFile }
}

interface H2specResult {
  readonly cases: number
  /** The expectation of h2spec and what it got, by the ids of the failed cases. */
  readonly failed: ReadonlyMap<string, string>
}

/** Runs all cases against a port. Requests are GET, which the gateway answers with 405 or 404. */
async function runH2spec(port: number, path: string, isTls: boolean): Promise<H2specResult> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-h2spec-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const report = join(directory, 'report.xml')
  const target = [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--path',
    path,
    ...(isTls ? ['--tls', '--insecure'] : []),
  ]
  const child = spawn(preparedPaths().h2spec, [...target, '--strict', '--timeout', '1', '--junit-report', report], {
    stdio: 'ignore',
  })
  await once(child, 'close')
  return resultIn(readFileSync(report, 'latin1'))
}

/** Reads a JUnit report of h2spec. It numbers the cases of a section from 1 and marks a failed one with `error`. */
function resultIn(report: string): H2specResult {
  const failed = new Map<string, string>()
  let cases = 0
  for (const [section] of report.matchAll(/<testsuite .*?<\/testsuite>/gs)) {
    const all = [...section.matchAll(/<testcase package="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)]
    cases += all.length
    for (const [index, [, name, content = '']] of all.entries()) {
      if (content.trim() !== '' && !isReset(content)) failed.set(`${name}/${index + 1}`, content.trim())
    }
  }
  return { cases, failed }
}

/** Whether a case expected the end of the connection and got a TCP reset, which h2spec 2.2.1 does not recognise as an end. */
const isReset = (content: string): boolean =>
  content.includes('Connection closed') && content.includes('connection reset by peer')
