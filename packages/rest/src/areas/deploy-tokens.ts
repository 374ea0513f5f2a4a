import {
  type DeployToken,
  deployTokenUsername,
  groupDeployTokens,
  type IssuedDeployToken,
  isExpiredDeployToken,
  listDeployTokens,
  projectDeployTokens,
} from '@penstock/core'
import { z } from 'zod'
import { fullMessages } from '../routing/field-error-text.ts'
import { isoTime } from '../routing/iso-time.ts'
import { jsonShape, type Member, member } from '../routing/json-shape.ts'
import { parentNames as names, type ParentKind } from '../routing/parent-routes.ts'
import { type Area, type RestRoute, route } from '../routing/route.ts'
import { orderedList } from './parameters/lists.ts'

const of = <Token extends DeployToken>(schema: z.ZodType, value: Member<Token>['of']) => member<Token>(schema, value)

const members = {
  id: of(z.int(), ({ id }) => id),
  name: of(z.string(), ({ name }) => name),
  username: of(z.string(), (token, { serviceName }) => deployTokenUsername(token, serviceName)),
  expiresAt: of(z.iso.datetime().nullable(), ({ expiresAtMs }) => isoTime(expiresAtMs)),
  scopes: of(z.array(z.string()), ({ scopes }) => scopes),
  // A token that has been revoked is not shown any more.
  revoked: of(z.literal(false), () => false),
  expired: of(z.boolean(), (token, { nowMs }) => isExpiredDeployToken(token, nowMs)),
}
const tokenShape = jsonShape<DeployToken>('DeployToken', members)
const issuedShape = jsonShape<IssuedDeployToken>('IssuedDeployToken', {
  ...members,
  token: of<IssuedDeployToken>(z.string(), ({ value }) => value),
})

const list = {
  noEffect: orderedList.noEffect,
  refused: { scopes: 'deploy tokens are not filtered by their scopes' },
}

const operations = { project: projectDeployTokens, group: groupDeployTokens } as const

function routesOf(kind: ParentKind): RestRoute[] {
  const tokens = operations[kind]
  const all = `/${kind}s/:id/deploy_tokens`
  const one = `${all}/:token_id`
  return [
    route({
      method: 'GET',
      path: all,
      operation: tokens.list,
      names,
      parameters: list,
      shape: tokenShape,
      summary: `List the deploy tokens of a ${kind}.`,
    }),
    route({
      method: 'GET',
      path: one,
      operation: tokens.get,
      names,
      shape: tokenShape,
      summary: `Get a deploy token of a ${kind}.`,
    }),
    route({
      method: 'POST',
      path: all,
      operation: tokens.create,
      names,
      shape: issuedShape,
      invalid: fullMessages,
      summary: `Create a deploy token of a ${kind}. Only this answer contains its value.`,
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: tokens.remove,
      names,
      summary: `Revoke a deploy token of a ${kind}.`,
    }),
  ]
}

export const deployTokensArea: Area = {
  tag: 'Deploy tokens',
  routes: [
    route({
      method: 'GET',
      path: '/deploy_tokens',
      operation: listDeployTokens,
      parameters: orderedList,
      shape: tokenShape,
      summary: 'List the deploy tokens of all projects and groups.',
    }),
    ...routesOf('project'),
    ...routesOf('group'),
  ],
}
