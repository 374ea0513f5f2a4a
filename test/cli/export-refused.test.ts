import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile } from '../fixtures.ts'

async function exported(reply: ScriptedReply, flags: readonly string[] = []) {
  const server = await ScriptedServer.start(() => reply)
  onTestFinished(() => server.close())
  const args = ['export', caseFile('push-pipeline-five-jobs-three-stages'), '--endpoint', `${server.url}/api`]
  return { url: server.url, outcome: await penstock([...args, ...flags]) }
}

test.each([404, 405])('%i: names each path that was tried, and advises to check the endpoint', async (status) => {
  const { url, outcome } = await exported({ play: 'reply', status }, ['--token', 'canary'])
  expect(outcome.exitCode).toBe(1)
  for (const signal of ['traces', 'metrics', 'logs']) {
    expect(outcome.stdout).toContain(
      `${url}/api/v1/${signal} does not accept requests; set --endpoint to the base URL of an OTLP/HTTP endpoint\n`,
    )
  }
  expect(outcome.stdout).not.toContain('canary')
})

test('401 without a token: names the flag and the variable for the token', async () => {
  const wanted = 'no token was given; pass the token of the receiver with --token or PENSTOCK_EXPORT_TOKEN'
  const without = await exported({ play: 'reply', status: 401 })
  expect(without.outcome.stdout.split(wanted)).toHaveLength(2)
  const withOne = await exported({ play: 'reply', status: 401 }, ['--token', 'canary'])
  expect(withOne.outcome.stdout).not.toContain('no token was given')
})
