import {
  type Core,
  createJobToken,
  findUserByIdOrUsername,
  perform,
  readContextOf,
  revokeJobToken,
} from '@penstock/core'
import type { OptionValues } from 'commander'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { asCoreOperator, operator } from './core-operator.ts'

/** Matches ids that fit into an integer column. */
const idForm = /^[1-9]\d{0,8}$/

/**
 * Runs `penstock token` with `--kind job`.
 * @throws {UsageError}
 */
export async function runJobToken(
  action: string,
  id: string | undefined,
  flags: OptionValues,
  environment: Environment,
): Promise<number> {
  if (action === 'create') await create(flags, environment)
  else if (action === 'revoke') await revoke(id, flags, environment)
  else throw new UsageError(`job tokens support create and revoke, not ${action}`)
  return exitCodes.ok
}

async function create(flags: OptionValues, environment: Environment): Promise<void> {
  const { project, user, job: jobText } = flags as { project?: string; user?: string; job?: string }
  if (project === undefined || user === undefined) throw new UsageError('--kind job needs --project and --user')
  const jobId = jobText === undefined ? undefined : jobIdOf(jobText)
  const { token, job } = await asCoreOperator(flags, environment, async (core) => {
    const starter = await userOf(core, user)
    const input = { project: idForm.test(project) ? Number(project) : project, userId: starter.id, jobId }
    return { token: await perform(core, operator, createJobToken, input), job: `${starter.username} in ${project}` }
  })
  await write(environment.stderr, `created job token ${token.id} of ${job}\n`)
  await write(environment.stdout, `${token.value}\n`)
}

/**
 * Returns the id of a job. It may be longer than the ids of the core, because it comes from the forge that runs the
 * job.
 */
function jobIdOf(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  if (!Number.isSafeInteger(id) || id === 0) throw new UsageError('--job must be the id of a job')
  return id
}

async function userOf(core: Core, text: string): Promise<{ id: number; username: string }> {
  const user = await findUserByIdOrUsername(readContextOf(core), text)
  if (user === undefined) throw new UsageError('there is no such user')
  return user
}

async function revoke(id: string | undefined, flags: OptionValues, environment: Environment): Promise<void> {
  if (id === undefined || !idForm.test(id))
    throw new UsageError('name the token to revoke by the number that create printed')
  await asCoreOperator(flags, environment, (core) => perform(core, operator, revokeJobToken, { id: Number(id) }))
  await write(environment.stderr, `revoked job token ${id}\n`)
}
