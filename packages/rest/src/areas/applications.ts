import {
  type Application,
  type ApplicationWithSecret,
  createApplication,
  listApplications,
  removeApplication,
  renewApplicationSecret,
} from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member } from '../routing/json-shape.ts'
import { type Area, route } from '../routing/route.ts'
import { wholeList } from './parameters/lists.ts'

const plain = {
  id: member<Application>(z.int(), ({ id }) => id),
  applicationId: member<Application>(z.string(), ({ uid }) => uid),
  applicationName: member<Application>(z.string(), ({ name }) => name),
  callbackUrl: member<Application>(z.string(), ({ redirectUris }) => redirectUris.join('\n')),
  confidential: member<Application>(z.boolean(), ({ isConfidential }) => isConfidential),
  scopes: member<Application>(z.array(z.string()), ({ scopes }) => scopes),
}

const applicationShape = jsonShape<Application>('Application', plain)
const withSecretShape = jsonShape<ApplicationWithSecret>('ApplicationWithSecret', {
  ...plain,
  secret: member<ApplicationWithSecret>(z.string(), ({ secret }) => secret),
})

export const applicationsArea: Area = {
  tag: 'Applications',
  routes: [
    route({
      method: 'GET',
      path: '/applications',
      operation: listApplications,
      parameters: wholeList,
      summary: 'List all OAuth applications, without their secrets.',
      isList: true,
      shape: applicationShape,
    }),
    route({
      method: 'POST',
      path: '/applications',
      operation: createApplication,
      emptyWhenMissing: ['scopes'],
      status: 200,
      summary: 'Create an OAuth application. Only this response and that of a renewal contain its secret.',
      shape: withSecretShape,
    }),
    route({
      method: 'DELETE',
      path: '/applications/:id',
      operation: removeApplication,
      summary: 'Delete an OAuth application with its codes and tokens.',
    }),
    route({
      method: 'POST',
      path: '/applications/:id/renew-secret',
      operation: renewApplicationSecret,
      status: 200,
      summary:
        'Replace the secret of an OAuth application. The previous secret stops working immediately; tokens stay valid.',
      shape: withSecretShape,
    }),
  ],
}
