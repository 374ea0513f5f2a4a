import type { RouteParameters } from '../../routing/route.ts'
import { cursorList } from './lists.ts'

const sameRefusal = 'pipelines and jobs run elsewhere, so the call has the same answer with any parameters'

export const projectJobList = {
  noEffect: {
    ...cursorList.noEffect,
    include_retried: 'the list has retried jobs too',
    order_by: 'the newest job is first',
    sort: 'the newest job is first',
  },
} satisfies RouteParameters

export const startedPipeline = {
  noEffect: { inputs: sameRefusal, ref: sameRefusal, variables: sameRefusal },
} satisfies RouteParameters

export const changedJob = {
  noEffect: { force: sameRefusal, job_inputs: sameRefusal, job_variables_attributes: sameRefusal },
} satisfies RouteParameters
