import { avatarPath } from '@penstock/core'
import type { Kit } from './kit.ts'

/** Returns a resolver for the URL of the picture, which is null if there is none. */
export const avatarUrlOf =
  ({ web }: Kit, kind: Parameters<typeof avatarPath>[0]) =>
  (owner: Parameters<typeof avatarPath>[1]): string | null => {
    const path = avatarPath(kind, owner)
    return path === undefined ? null : web.url(path)
  }
