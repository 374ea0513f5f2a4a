import type { Namespace } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, member } from '../../routing/json-shape.ts'
import { avatarUrl } from './avatar-url.ts'

/** The JSON members that describe a namespace, for resources in which it is embedded. */
export const namespaceMembers = {
  id: member<Namespace>(z.int(), ({ id }) => id),
  name: member<Namespace>(z.string(), ({ name }) => name),
  path: member<Namespace>(z.string(), ({ path }) => path),
  kind: member<Namespace>(z.enum(['group', 'user']), ({ kind }) => kind),
  fullPath: member<Namespace>(z.string(), ({ fullPath }) => fullPath),
  parentId: member<Namespace>(z.int().nullable(), ({ parentId }) => parentId ?? null),
  avatarUrl: member<Namespace>(z.string().nullable(), ({ avatarPath }, context) => avatarUrl(avatarPath, context)),
  webUrl: member<Namespace>(z.string(), ({ kind, fullPath }, { externalUrl }) =>
    kind === 'group' ? `${externalUrl}/groups/${fullPath}` : `${externalUrl}/${fullPath}`,
  ),
}

export const namespaceShape = jsonShape<Namespace>('Namespace', namespaceMembers)
