import { listProjectUsers } from '@penstock/core'
import { route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'
import { basicUserShape } from './shapes/basic-user.ts'

export const projectUsersRoute = route({
  method: 'GET',
  path: '/projects/:id/users',
  operation: listProjectUsers,
  parameters: orderedList,
  summary: 'List the users who are members of a project, directly or through its groups.',
  names: { project: 'id' },
  shape: basicUserShape,
})
