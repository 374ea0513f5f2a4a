import { z } from 'zod'
import type { Actor } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { type StepsContext, unscopedSteps } from '../../base/operations/operation.ts'
import { perform } from '../../base/operations/perform.ts'

/** Runs `work` as the steps of an operation, so that it can change repositories. */
export const inSteps = <Result>(
  core: Core,
  actor: Actor,
  work: (context: StepsContext) => Promise<Result>,
): Promise<Result> =>
  perform(core, actor, unscopedSteps({ name: 'test', caller: 'anyone', input: z.object({}) }, work), {})
