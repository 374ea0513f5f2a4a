import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram, preparedPaths } from '../../interop/prepared.ts'
import { RunningCore } from './running-core.ts'

/** The expected results, by step of the program in `test/interop/client-go`. */
const expected: Readonly<Record<string, unknown>> = {
  applications: {
    made: [200, 'Deploy board', 'https://board.example.test/cb', true, ['api', 'read_user']],
    listed: [1, true, true, ''],
    renewed: [true, true],
    again: [404],
    refused: [400, 'error: redirect_uri is missing, scopes is missing, scopes is empty'],
  },
  broadcast_messages: {
    made: [
      201,
      {
        id: 1,
        message: 'Maintenance on Sunday',
        starts_at: '2026-02-03T04:00:00Z',
        ends_at: '2026-02-03T06:00:00Z',
        font: '#FFFFFF',
        active: true,
        target_access_levels: [30, 40],
        target_path: '*/welcome',
        broadcast_type: 'notification',
        dismissable: true,
        theme: 'light-blue',
      },
    ],
    listed: [1, 1, true],
    shown: ['Maintenance on Sunday', true, [30, 40]],
    refused: [401, 'message: 401 Unauthorized'],
    changed: ['Maintenance is over', 'green', [10], '*/welcome'],
    gone: [404],
  },
}

describeWithProgram('client-go', ['clientGo'], () => {
  let core: RunningCore
  let results: Record<string, unknown>

  beforeAll(async () => {
    core = await RunningCore.start()
    const child = spawn(preparedPaths().clientGo, [], { stdio: ['pipe', 'pipe', 'inherit'], timeout: 60_000 })
    child.stdin.end(JSON.stringify({ url: core.url, rootToken: core.rootToken }))
    results = JSON.parse(await text(child.stdout))
  })

  afterAll(() => core.close())

  test.each(Object.keys(expected))('%s', (step) => {
    expect(results[step]).toEqual(expected[step])
  })

  test('has no other steps', () => {
    expect(Object.keys(results).toSorted()).toEqual(Object.keys(expected))
  })
})
