import { showUploadedAvatar } from '@penstock/core'
import type { ServedRoute } from '@penstock/http'
import { avatarContent } from '../areas/shapes/avatar-url.ts'
import { route } from '../routing/route.ts'
import { type RowDeps, servedRow } from './served-row.ts'

/** Returns the route of the pictures to which `avatar_url` fields refer. It is not below the path of the API. */
export function avatarRoute(deps: RowDeps): ServedRoute {
  const row = route({
    method: 'GET',
    path: '/uploads/-/system/:kind/avatar/:id/:file_name',
    operation: showUploadedAvatar,
    summary: 'Get a picture.',
    content: avatarContent,
    endsInName: true,
  })
  return { ...servedRow(row, deps), path: row.path }
}
