import {
  addEmailOfUser,
  addOwnEmail,
  type Email,
  getOwnEmail,
  listEmailsOfUser,
  listOwnEmails,
  removeEmailOfUser,
  removeOwnEmail,
} from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../routing/iso-time.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { ownEmails } from './parameters/users.ts'

const shape: Shape<Email> = {
  schema: z.object({ id: z.int(), email: z.string(), confirmed_at: z.iso.datetime().nullable() }).meta({ id: 'Email' }),
  of: ({ id, email, confirmedAtMs }) => ({
    id,
    email,
    confirmed_at: confirmedAtMs === undefined ? null : isoTime(confirmedAtMs),
  }),
}

export const emailsArea: Area = {
  tag: 'E-mail addresses',
  routes: [
    route({
      method: 'GET',
      path: '/user/emails',
      operation: listOwnEmails,
      summary: 'List the e-mail addresses of the current user.',
      scopes: ['read_user', 'email'],
      shape,
      isList: true,
      parameters: ownEmails,
    }),
    route({
      method: 'GET',
      path: '/user/emails/:email_id',
      operation: getOwnEmail,
      summary: 'Get an e-mail address of the current user.',
      scopes: ['read_user'],
      shape,
    }),
    route({
      method: 'POST',
      path: '/user/emails',
      operation: addOwnEmail,
      summary: 'Add an e-mail address to the current user. A mail to it has a link that confirms it.',
      shape,
      parameters: { refused: { skip_confirmation: 'only administrators can skip the confirmation' } },
    }),
    route({
      method: 'DELETE',
      path: '/user/emails/:email_id',
      operation: removeOwnEmail,
      summary: 'Delete an e-mail address of the current user, except the primary one.',
    }),
    route({
      method: 'GET',
      path: '/users/:id/emails',
      operation: listEmailsOfUser,
      summary: 'List the e-mail addresses of a user. Only for administrators.',
      names: { user: 'id' },
      shape,
      isList: true,
      parameters: ownEmails,
    }),
    route({
      method: 'POST',
      path: '/users/:id/emails',
      operation: addEmailOfUser,
      summary: 'Add an e-mail address to a user. Only for administrators.',
      names: { user: 'id' },
      shape,
    }),
    route({
      method: 'DELETE',
      path: '/users/:id/emails/:email_id',
      operation: removeEmailOfUser,
      summary: 'Delete an e-mail address of a user, except the primary one. Only for administrators.',
      names: { user: 'id' },
    }),
  ],
}
