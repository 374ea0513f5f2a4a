import type { ManualClock, ScriptedReply } from '@penstock/testkit'
import { type Outcome, penstock } from '../command-line.ts'
import { receiver, spansIn, stateFile } from './backfill-run.ts'
import { type GithubRun, githubToken, ScriptedGithub } from './scripted-github.ts'

export const runs = (count: number): GithubRun[] => Array.from({ length: count }, (_, at) => ({ id: at + 1 }))
export const ids = (count: number): string[] => runs(count).map(({ id }) => `${id}/1`)

/** Starts GitHub and a receiver, and returns them with a function that runs a backfill. */
export async function stage(given: readonly GithubRun[]) {
  const github = await ScriptedGithub.start(given)
  const server = await receiver()
  const state = await stateFile()
  const backfill = (
    flags: readonly string[] = [],
    world: Parameters<typeof penstock>[1] = {},
    token = githubToken,
  ): Promise<Outcome> => {
    const where = ['--from', github.server.url, '--endpoint', server.url, '--state-file', state]
    const args = ['backfill', '--forge', 'github', '--project', 'ferrous-labs/anvil', '--signals', 'traces', ...where]
    return penstock([...args, ...flags], { env: { PENSTOCK_FORGE_TOKEN: token }, ...world })
  }
  /** Returns the run and the attempt of each received pipeline span, in order of arrival. */
  const received = (): string[] =>
    spansIn(server.requests).flatMap(({ attributes }) => {
      const read = (key: string) => attributes.find((each) => each.key === key)?.value
      if (read('cicd.pipeline.task.run.id') !== undefined) return []
      return [`${String(read('cicd.pipeline.run.id'))}/${String(read('svc.cicd.pipeline.run.attempt'))}`]
    })
  return { github, server, backfill, received }
}

export const reply = (status: number, headers: Readonly<Record<string, string>>, body = ''): ScriptedReply => ({
  play: 'reply',
  status,
  headers,
  body,
})

/** Lets time pass whenever the backfill waits, until it ends. */
export async function passTime(clock: ManualClock, running: Promise<Outcome>): Promise<Outcome> {
  let isRunning = true
  const ended = running.finally(() => {
    isRunning = false
  })
  while (isRunning) {
    await Promise.race([ended, clock.untilSleeping()])
    if (isRunning) await clock.advance(60_000)
  }
  return ended
}
