import { type Project, putPipelineRecord, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { recordInput } from '@penstock/testkit'

/** Stores a pipeline record through the core. */
export const putRecord = (
  world: World,
  user: User,
  project: Project,
  id: number,
  run: object = {},
  rest: object = {},
): Promise<unknown> =>
  world.perform(
    user,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: id,
      objectAttributes: { id, status: 'success', ref: 'main', ...run },
      ...rest,
    }),
  )
