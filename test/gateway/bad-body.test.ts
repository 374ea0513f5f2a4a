import { decodeRpcStatus, type RpcStatus } from '@penstock/otlp'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GrpcClient } from '../../packages/gateway/src/grpc/grpc-front.harness.ts'
import { startSink } from './accepting-sink.ts'
import { exportOnce } from './export-client.ts'
import { type RunningGateway, startGateway } from './running-gateway.ts'

const invalidBody = (description: string): RpcStatus => ({
  code: 3,
  message: description,
  retryDelayMs: undefined,
  fieldViolations: [{ field: 'body', description }],
})

describe('P-5: a body that the gateway has read and that is not OTLP', () => {
  async function start(env: Record<string, string>): Promise<RunningGateway & { readonly validToken: string }> {
    const sink = await startSink(() => {
      throw new Error('nothing may reach upstream')
    })
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, ...env })
    await gateway.enforce(true)
    const { token } = await gateway.token()
    return { ...gateway, validToken: token }
  }

  test.each([
    ['HTTP protobuf', 'protobuf'],
    ['HTTP JSON', 'json'],
  ] as const)('over %s: not gzip', async (kind, encoding) => {
    const gateway = await start({ PENSTOCK_MAX_BODY_BYTES: '1000000', PENSTOCK_INSPECT_INFLATED_SIZE: 'always' })
    const reply = await exportOnce(gateway.otlpPort, kind, {
      token: gateway.validToken,
      body: Buffer.alloc(5_000, 1),
      headers: { 'content-encoding': 'gzip' },
    })
    expect(reply.code).toBe(400)
    expect(decodeRpcStatus(reply.body, encoding)).toEqual(invalidBody('The body is not valid gzip.'))
  })

  test.each([
    ['HTTP protobuf', 'protobuf', 'The body is not an OTLP export: wire type 3.'],
    ['HTTP JSON', 'json', expect.stringMatching(/^The body is not an OTLP export: /)],
  ] as const)('over %s: not what its content type says', async (kind, encoding, description) => {
    const gateway = await start({ PENSTOCK_ATTRIBUTE_RESOURCES: 'true' })
    const reply = await exportOnce(gateway.otlpPort, kind, { token: gateway.validToken, body: Buffer.from([0x0b]) })
    expect(reply.code).toBe(400)
    expect(decodeRpcStatus(reply.body, encoding)).toEqual(invalidBody(description))
  })

  test('over gRPC: not protobuf', async () => {
    const gateway = await start({ PENSTOCK_ATTRIBUTE_RESOURCES: 'true' })
    const client = new GrpcClient(`127.0.0.1:${gateway.otlpPort}`)
    onTestFinished(() => client.close())
    const metadata = { authorization: `Bearer ${gateway.validToken}` }
    const { code, trailers } = await client.unary(Buffer.from([0x0b]), { metadata })
    expect(code).toBe(3)
    const [details] = trailers.get('grpc-status-details-bin')
    expect(decodeRpcStatus(details as Buffer, 'protobuf')).toEqual(
      invalidBody('The body is not an OTLP export: wire type 3.'),
    )
  })
})
