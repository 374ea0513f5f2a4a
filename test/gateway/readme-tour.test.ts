import { expect } from 'vitest'
import { runAgainst, shellBlocks, testWithCurl } from '../page-commands.ts'
import { ADMIN_KEY, startGateway } from './running-gateway.ts'

/** Separates the output of one block from that of the next. */
const BORDER = '\n---- next block ----\n'

testWithCurl('README.md: the commands of the gateway tour print what the page says', async () => {
  const blocks = shellBlocks('README.md', '## A tour of the gateway', '## Where to go next')
  expect(blocks).toHaveLength(6)
  const gateway = await startGateway()

  const script = blocks.join(`printf '${BORDER.replaceAll('\n', '\\n')}'\n`)
  const tour = await runAgainst(gateway, `${script}\nprintf '${BORDER.replaceAll('\n', '\\n')}%s' "$TOKEN"`, {
    OBS_API_KEY: ADMIN_KEY,
  })
  expect(tour.exitCode).toBe(0)
  const [created, enabled, without, withToken, found, readiness, token] = tour.stdout.split(BORDER)

  expect(token).toMatch(/^psin_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/)
  expect(created).toBe('')
  expect(JSON.parse(enabled!)).toMatchObject({ enabled: true, mode: 'enforce', valid_tokens: 1, warnings: [] })

  expect(without).toMatch(/^HTTP\/1\.1 401 /)
  expect(without).toContain('www-authenticate: Bearer realm="otlp"')
  expect(withToken).toMatch(/^HTTP\/1\.1 200 /)

  expect(JSON.parse(found!)).toMatchObject([
    { trace_id: '5b8efff798038103d269b633813fc60c', spans: 1, root: { name: 'hello', service: 'tour' } },
  ])

  const { ready, clients } = JSON.parse(readiness!)
  expect(ready).toBe(false)
  expect(clients).toEqual([
    expect.objectContaining({ user_agent: 'curl', signal: 'traces', reason: 'missing', count: 1 }),
  ])
})
