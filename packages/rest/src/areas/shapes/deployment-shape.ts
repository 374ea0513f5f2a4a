import { type Deployment, deploymentStatuses, type Environment, environmentFields } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import { jsonShape, member, membersOf, pick } from '../../routing/json-shape.ts'
import { basicUserShape } from './basic-user.ts'
import { jobShape } from './job-shape.ts'
import { recordedUserShape } from './pipeline-shape.ts'

/** An environment as embedded in a deployment. */
export const basicEnvironmentShape = jsonShape<Environment>(
  'BasicEnvironment',
  pick(membersOf(environmentFields), 'id', 'name', 'slug', 'externalUrl', 'tier', 'state', 'createdAt', 'updatedAt'),
)

const of = (schema: z.ZodType, value: Parameters<typeof member<Deployment>>[1]) => member<Deployment>(schema, value)

/** A deployment. That of a recorded job has the user of the record, who need not exist here. */
export const deploymentShape = jsonShape<Deployment>('Deployment', {
  id: of(z.int(), ({ id }) => id),
  iid: of(z.int(), ({ iid }) => iid),
  ref: of(z.string().nullable(), ({ ref }) => ref ?? null),
  sha: of(z.string().nullable(), ({ sha }) => sha ?? null),
  createdAt: of(z.iso.datetime(), ({ createdAtMs }) => isoTime(createdAtMs)),
  updatedAt: of(z.iso.datetime(), ({ updatedAtMs }) => isoTime(updatedAtMs)),
  status: of(z.enum(deploymentStatuses), ({ status }) => status),
  user: of(z.union([basicUserShape.schema, recordedUserShape.schema]), ({ user, job }, context) =>
    user === undefined
      ? recordedUserShape.of(job?.user ?? job?.pipeline.user, context)
      : basicUserShape.of(user, context),
  ),
  environment: of(basicEnvironmentShape.schema, ({ environment }, context) =>
    basicEnvironmentShape.of(environment, context),
  ),
  deployable: of(jobShape.schema.nullable(), ({ job }, context) =>
    job === undefined ? null : jobShape.of(job, context),
  ),
  // Deployments wait for no approvals here.
  pendingApprovalCount: of(z.literal(0), () => 0),
  approvals: of(z.array(z.never()), () => []),
})
