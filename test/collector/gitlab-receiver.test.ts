import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithCollector } from './collector-suite.ts'
import { countItems } from './exported-file.ts'
import { type GitlabReceiver, startGitlabReceiver } from './gitlab-receiver.ts'
import { cpuSeconds } from './process-cpu.ts'

const finishedPipeline = {
  object_kind: 'pipeline',
  object_attributes: {
    id: 31,
    name: 'Nightly',
    ref: 'main',
    tag: false,
    sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
    source: 'push',
    status: 'failed',
    created_at: '2026-01-01 00:00:00 UTC',
    finished_at: '2026-01-01 00:01:00 UTC',
    url: 'https://forge.example/acme/shop/-/pipelines/31',
  },
  project: { id: 1, name: 'shop', path_with_namespace: 'acme/shop', web_url: 'https://forge.example/acme/shop' },
  commit: { id: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2', title: 'Sell tea', author: { name: 'Ada' } },
  builds: [
    {
      id: 380,
      stage: 'test',
      name: 'unit',
      status: 'failed',
      created_at: '2026-01-01 00:00:00 UTC',
      started_at: '2026-01-01 00:00:10 UTC',
      finished_at: '2026-01-01 00:00:50 UTC',
    },
  ],
}

describeWithCollector('the gitlab receiver', () => {
  let receiver: GitlabReceiver

  beforeAll(async () => {
    receiver = await startGitlabReceiver()
  })
  afterAll(() => receiver.stop())

  test('creates a trace of pipeline, stage and job', async () => {
    const { status, traces } = await receiver.postPipelineWebhook(JSON.stringify(finishedPipeline))

    expect(status).toBe(200)
    expect(traces).toHaveLength(1)
    expect(traces[0]).toContain('"service.name","value":{"stringValue":"acme/shop"}')
    for (const name of ['Nightly', 'test', 'unit']) expect(traces[0]).toContain(`"name":"${name}"`)
    expect(countItems(traces[0]!, 'traces')).toBe(3)
  })

  test('does not export a running pipeline', async () => {
    const running = { ...finishedPipeline.object_attributes, status: 'running', finished_at: null }

    const answer = await receiver.postPipelineWebhook(
      JSON.stringify({ ...finishedPipeline, object_attributes: running }),
    )

    expect(answer).toEqual({ status: 204, message: '', traces: [] })
  })

  test('returns the reason of a refusal', async () => {
    const answer = await receiver.postPipelineWebhook(JSON.stringify({ ...finishedPipeline, project: {} }))

    expect(answer).toEqual({ status: 400, message: 'missing required field: project ID', traces: [] })
  })

  test('has a measurable CPU time', async () => {
    const before = cpuSeconds(receiver.pid)
    for (let i = 0; i < 300; i++) await receiver.postPipelineWebhook(JSON.stringify(finishedPipeline))

    expect(cpuSeconds(receiver.pid)).toBeGreaterThan(before)
  })
})
