import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isSigningToken, verifySignature } from '@penstock/webhooks'
import { Argument, type Command, Option } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { DEFAULT_RECEIVER } from '../settings/default-receiver.ts'
import { address } from '../settings/setting-shapes.ts'
import { formatBytes, printable } from '../text/wording.ts'

const TOKEN_VARIABLE = 'PENSTOCK_HOOK_SIGNING_TOKEN'
/** The largest body that webhooks send. */
const MAX_BODY_BYTES = 25 * 1024 * 1024
const MAX_CONNECTIONS = 64
const BODY_TIMEOUT_MS = 30_000

const notes = `
Each request is one line: the time, the event, what its signature says, the size, and the id. With --body, the body follows on a
line of its own. Signatures are checked if ${TOKEN_VARIABLE} has the signing token of the webhook:

  verified   the signature is valid
  stale      it is valid, but older than five minutes
  invalid    another token made it, or the request was changed
  unsigned   there is none
  unchecked  ${TOKEN_VARIABLE} is not set

The answer is 204, or 401 to requests that are not verified although the token is set.

Examples:
  $ penstock hooks receive
  $ ${TOKEN_VARIABLE}=whsec_… penstock hooks receive --listen 127.0.0.1:9000 --body

Exit codes: 0 stopped by a signal, 2 usage or a port in use.
`

/** Receives webhooks on this machine and prints them. */
export const hooksCommand: CommandDefinition = {
  name: 'hooks',
  endsWhenInterrupted: true,
  define: (command: Command) => {
    command
      .summary('receives webhooks and prints them')
      .description('Receives webhooks until it is stopped, checks their signatures and prints them.')
      .addArgument(new Argument('<action>', 'what to do').choices(['receive']))
      .addOption(new Option('--listen <address>', 'address to listen on').default(DEFAULT_RECEIVER))
      .addOption(new Option('--body', 'prints the bodies too'))
      .addHelpText('after', notes)
  },
  run: async (_inputs, flags, environment) => {
    const token = environment.env[TOKEN_VARIABLE] || undefined
    if (token !== undefined && !isSigningToken(token)) {
      throw new UsageError(`${TOKEN_VARIABLE} must be whsec_ and 32 bytes in Base64`)
    }
    const listen = address.parse(flags.listen as string)
    if (listen === undefined) throw new UsageError(`--listen must be ${address.form}`)
    const { stdout, stderr, signal } = environment
    let printing = Promise.resolve()
    const stopped = new AbortController()
    const server = createServer({ requestTimeout: BODY_TIMEOUT_MS }, (request, response) => {
      answer(request, response, { token, showsBody: flags.body === true, environment }).then(
        (lines) => {
          printing = printing.then(() => (lines === undefined ? undefined : write(stdout, lines)))
          printing.catch((error: unknown) => stopped.abort(error))
        },
        () => request.destroy(),
      )
    })
    server.maxConnections = MAX_CONNECTIONS
    server.listen(listen.port, listen.host)
    await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`cannot listen on ${flags.listen as string}: ${error.code ?? error.message}`)
    })
    const { port } = server.address() as AddressInfo
    await write(stderr, `receiving webhooks at http://${urlHost(listen.host)}:${port}/\n`)
    await untilAborted(AbortSignal.any([signal, stopped.signal]))
    server.close()
    server.closeAllConnections()
    await printing
    return exitCodes.ok
  },
}

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

interface Receiving {
  readonly token: string | undefined
  readonly showsBody: boolean
  readonly environment: Environment
}

/** Answers a request. Returns what to print; `undefined` for a request that is no webhook. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { token, showsBody, environment }: Receiving,
): Promise<string | undefined> {
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end()
    return undefined
  }
  const body = await bodyOf(request)
  if (body === undefined) {
    response.writeHead(413, { Connection: 'close' }).end()
    return undefined
  }
  const { headers } = request
  const receivedAtMs = environment.clock.nowMs()
  const verdict = token === undefined ? 'unchecked' : verifySignature(token, { headers, body, receivedAtMs })
  response.writeHead(verdict === 'verified' || verdict === 'unchecked' ? 204 : 401).end()
  const event = Object.entries(headers).find(([name]) => /^x-[a-z0-9]+-event$/.test(name))?.[1] ?? 'no event'
  const id = headers['idempotency-key'] ?? headers['webhook-id'] ?? '-'
  const time = new Date(receivedAtMs).toISOString()
  const line = printable([time, event, verdict, formatBytes(body.length), id].join('  '))
  return showsBody ? `${line}\n${printable(body.toString())}\n` : `${line}\n`
}

/** Reads the body; `undefined` if it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
