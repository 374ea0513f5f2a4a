import type { JsonContext } from '../../routing/route.ts'

/** Returns the URL of a picture; null if there is none. */
export const avatarUrl = (path: string | undefined, { externalUrl }: JsonContext): string | null =>
  path === undefined ? null : `${externalUrl}/${path}`

/** Returns a picture as the body of a response. */
export const avatarContent = ({
  contentType,
  bytes,
}: {
  readonly contentType: string
  readonly bytes: Uint8Array
}) => ({ type: contentType, body: bytes })
