import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answering, FetchingWorld, githubRun, json, status } from './fetching.harness.ts'

let world: FetchingWorld
beforeAll(async () => {
  world = await FetchingWorld.open(() => undefined)
})
afterAll(() => world.close())

/** Answers of the forge. */
const answers = ['run', 'some jobs', 'busy', 'limited', 'cut off', 'gone', 'refused'] as const
type Answer = (typeof answers)[number]
const steps = ['run', 'run', 'first', 'first', 'second', 'second', 'fetch', 'fetch', 'export'] as const

test('each span is sent once, whatever the order and the number of hooks, and whatever the forge answers', async () => {
  let round = 0n
  const ids = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...steps], { minLength: steps.length }),
      fc.array(fc.constantFrom(...answers), { minLength: 1, maxLength: 6 }),
      async (order, script) => {
        round += 1n
        const run = githubRun(round)
        const [first, second] = run.jobHooks
        const hooks = { run: run.hook, first, second }
        world.script = scriptOf(run, script)
        world.receiver.sink.requests.splice(0)
        const beganAsked = world.asked.length
        for (const step of order) {
          if (step === 'fetch') await world.fetchAll()
          else if (step === 'export') await world.exportAll()
          else await world.hook(hooks[step])
        }
        await world.fetchAll()
        await world.exportAll()
        const spans = world.spans()
        expect(spans.map(({ name }) => name).toSorted()).toEqual(['RUN CI', 'job: build', 'job: test'])
        expect(world.receiver.sink.requests.filter(({ path }) => path === '/v1/metrics')).toHaveLength(1)
        expect(new Set(spans.map(({ traceId }) => String(traceId))).size).toBe(1)
        for (const { spanId } of spans) ids.add(String(spanId))
        expect(ids.size).toBe(3 * Number(round))
        expect(world.asked.length - beganAsked).toBeLessThanOrEqual(script.length + 3)
      },
    ),
    { numRuns: 20 },
  )
}, 120_000)

function scriptOf(run: ReturnType<typeof githubRun>, script: readonly Answer[]) {
  let asked = 0
  return (path: string) => {
    const answer = script[Math.min(asked++, script.length - 1)]!
    // Answers that are repeated without end would only show that the time is over.
    const isRepeated = asked > script.length
    switch (answer) {
      case 'busy':
        return isRepeated ? answering(run)(path, 0) : status(503)
      case 'limited':
        return isRepeated ? answering(run)(path, 0) : status(429, { 'retry-after': '60' })
      case 'cut off':
        return isRepeated ? answering(run)(path, 0) : ({ play: 'reset', status: 200, body: '{"id":' } as const)
      case 'gone':
        return status(404)
      case 'refused':
        return status(401)
      case 'some jobs':
        return answering({ ...run, jobs: json({ total_count: 1, jobs: run.listed.slice(0, 1) }) })(path, 0)
      default:
        return answering(run)(path, 0)
    }
  }
}
