import { z } from 'zod'
import { invalid } from '../../base/kit/domain-error.ts'

/** The most bytes of a picture. */
const MAX_BYTES = 200 * 1024

/** A picture that a client uploads; null or an empty text removes the present one. */
export const avatarInput = z
  .union([
    z.null(),
    z.literal(''),
    z.object({ fileName: z.string().max(1_024), contentType: z.string(), bytes: z.instanceof(Uint8Array) }),
  ])
  .optional()
type AvatarInput = z.output<typeof avatarInput>

/** A valid picture. */
export interface Avatar {
  readonly fileName: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

interface ImageFormat {
  readonly type: string
  readonly endings: readonly string[]
  readonly begins: (bytes: Buffer) => boolean
}

const beginsWith =
  (...starts: readonly string[]) =>
  (bytes: Buffer) =>
    starts.some((start) => bytes.subarray(0, start.length).equals(Buffer.from(start, 'latin1')))

/** Images that cannot contain scripts. A format is recognised by its first bytes, whatever the client says. */
const formats: readonly ImageFormat[] = [
  { type: 'image/png', endings: ['png'], begins: beginsWith('\x89PNG\r\n\x1a\n') },
  { type: 'image/jpeg', endings: ['jpg', 'jpeg'], begins: beginsWith('\xff\xd8\xff') },
  { type: 'image/gif', endings: ['gif'], begins: beginsWith('GIF87a', 'GIF89a') },
  { type: 'image/bmp', endings: ['bmp'], begins: beginsWith('BM') },
  { type: 'image/tiff', endings: ['tiff', 'tif'], begins: beginsWith('II*\0', 'MM\0*') },
  { type: 'image/vnd.microsoft.icon', endings: ['ico'], begins: beginsWith('\0\0\x01\0') },
  {
    type: 'image/webp',
    endings: ['webp'],
    begins: (bytes) => beginsWith('RIFF')(bytes) && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
]

/**
 * Returns the picture to store, `null` to remove the present one, or `undefined` to keep it.
 *
 * @throws DomainError `invalid` for a file that is too large or no image
 */
export function avatarFrom(input: AvatarInput): Avatar | null | undefined {
  if (input === undefined) return undefined
  if (input === null || input === '') return null
  const bytes = Buffer.from(input.bytes)
  if (bytes.length > MAX_BYTES) throw invalid({ avatar: ['is too big (should be at most 200 KiB)'] })
  const format = formats.find(({ begins }) => begins(bytes))
  if (format === undefined) {
    const supported = formats.map(({ type }) => type).join(', ')
    throw invalid({
      avatar: [`file format is not supported. Please try one of the following supported formats: ${supported}`],
    })
  }
  return { fileName: fileNameOf(input.fileName, format), contentType: format.type, bytes }
}

const MAX_NAME = 100

/** Returns a file name that needs no escaping in URLs, with an extension of the format. */
function fileNameOf(name: string, { endings }: ImageFormat): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]/g, '_')
  const [, stem = safe, ending = ''] = /^(.*)\.([^.]*)$/.exec(safe) ?? []
  const wanted = endings.includes(ending.toLowerCase()) ? ending : endings[0]
  return `${stem.slice(0, MAX_NAME).replace(/^\.+/, '') || 'avatar'}.${wanted}`
}

/** Returns the path of a picture below the external URL. */
export const avatarPath = (
  kind: 'user' | 'group' | 'project',
  { id, avatar }: { readonly id: number; readonly avatar: string | undefined },
): string | undefined => (avatar === undefined ? undefined : `uploads/-/system/${kind}/avatar/${id}/${avatar}`)
