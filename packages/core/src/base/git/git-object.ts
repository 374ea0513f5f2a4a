/**
 * Encodes and decodes Git objects. isomorphic-git is not used for this, because it trims messages and sorts names by
 * UTF-16, so that Git would report some of its trees as unsorted.
 *
 * @see gitformat-commit, git-mktree, git-mktag
 */

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface Signature {
  readonly name: string
  readonly email: string
  /** Seconds since 1970. */
  readonly atSeconds: number
  /** Minutes east of UTC; -210 for `-0330`. */
  readonly offsetMinutes: number
}

/** Returns the signature of a person at a time, in UTC. */
export const signatureAt = ({ name, email }: Pick<Signature, 'name' | 'email'>, atMs: number): Signature => ({
  name,
  email,
  atSeconds: Math.floor(atMs / 1_000),
  offsetMinutes: 0,
})

/** A commit without its message, which may be long. */
export interface CommitHeader {
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
}

export interface CommitObject extends CommitHeader {
  readonly message: string
}

export interface TagObject {
  readonly target: string
  readonly name: string
  readonly tagger: Signature | undefined
  readonly message: string
}

export const modes = {
  tree: '040000',
  file: '100644',
  executable: '100755',
  link: '120000',
  submodule: '160000',
} as const

export interface TreeEntry {
  readonly name: string
  /** The mode as six digits. */
  readonly mode: string
  readonly oid: string
}

export function commitBytes({ tree, parents, author, committer, message }: CommitObject): Buffer {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${signatureText(author)}`,
    `committer ${signatureText(committer)}`,
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message}`)
}

export const commitOf = (bytes: Uint8Array): CommitObject => ({
  ...commitHeaderOf(bytes),
  message: partsOf(bytes).message.toString(),
})

export function commitHeaderOf(bytes: Uint8Array): CommitHeader {
  const { headers } = partsOf(bytes)
  const author = signatureOf(headers.find(([name]) => name === 'author')?.[1])
  const committer = signatureOf(headers.find(([name]) => name === 'committer')?.[1])
  const tree = headers.find(([name]) => name === 'tree')?.[1]
  if (tree === undefined || author === undefined || committer === undefined)
    throw new Error('The commit object is damaged')
  const parents = headers.filter(([name]) => name === 'parent').map(([, oid]) => oid)
  return { tree, parents, author, committer }
}

export type CommitSignatureType = 'PGP' | 'SSH' | 'X509'

/** The types of signatures, by the first line of the signature. */
const signatureTypes: Readonly<Record<string, CommitSignatureType>> = {
  '-----BEGIN PGP SIGNATURE-----': 'PGP',
  '-----BEGIN PGP MESSAGE-----': 'PGP',
  '-----BEGIN SSH SIGNATURE-----': 'SSH',
  '-----BEGIN SIGNED MESSAGE-----': 'X509',
}

/** Returns the type of a commit's signature, or `undefined` if it is not signed or the type is unknown. */
export function signatureTypeOf(bytes: Uint8Array): CommitSignatureType | undefined {
  const { headers } = partsOf(bytes)
  const first = headers.find(([name]) => name === 'gpgsig' || name === 'gpgsig-sha256')?.[1]
  return first === undefined ? undefined : signatureTypes[first.trim()]
}

export function tagBytes({ target, name, tagger, message }: TagObject): Buffer {
  const lines = [
    `object ${target}`,
    'type commit',
    `tag ${name}`,
    ...(tagger ? [`tagger ${signatureText(tagger)}`] : []),
  ]
  return Buffer.from(`${lines.join('\n')}\n\n${message}`)
}

export function tagOf(bytes: Uint8Array): TagObject {
  const { headers, message } = partsOf(bytes)
  const header = (wanted: string) => headers.find(([name]) => name === wanted)?.[1]
  return {
    target: header('object')!,
    name: header('tag')!,
    tagger: signatureOf(header('tagger')),
    message: message.toString(),
  }
}

/**
 * Encodes entries in Git's order: by the bytes of the names, where the name of a directory is treated as ending with a
 * slash.
 */
export function treeBytes(entries: readonly TreeEntry[]): Buffer {
  const sorted = entries
    .map((entry) => ({ entry, key: Buffer.from(entry.mode === modes.tree ? `${entry.name}/` : entry.name) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
  return Buffer.concat(
    sorted.flatMap(({ entry: { mode, name, oid } }) => [
      Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`),
      Buffer.from(oid, 'hex'),
    ]),
  )
}

export function treeOf(bytes: Uint8Array): TreeEntry[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: TreeEntry[] = []
  for (let at = 0; at < buffer.length; ) {
    const space = buffer.indexOf(0x20, at)
    const end = buffer.indexOf(0, space)
    entries.push({
      mode: buffer.toString('latin1', at, space).padStart(6, '0'),
      name: buffer.toString('utf8', space + 1, end),
      oid: buffer.toString('hex', end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
}

/** Encodes a signature. Characters that would end the name or the address are dropped, as Git does. */
const signatureText = ({ name, email, atSeconds, offsetMinutes }: Signature): string =>
  `${withoutDelimiters(name)} <${withoutDelimiters(email)}> ${atSeconds} ${offsetText(offsetMinutes)}`

// biome-ignore lint/suspicious/noControlCharactersInRegex: a line feed would begin a header of its own
const withoutDelimiters = (text: string): string => text.replace(/[<>\u0000-\u001f]/g, '').trim()

/** Returns `-0330` for -210, or `-03:30` with the separator `:`. */
export function offsetText(minutes: number, separator = ''): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}${separator}${String(rest).padStart(2, '0')}`
}

function signatureOf(text: string | undefined): Signature | undefined {
  const match = /^(.*?) ?<(.*)> (-?\d+) ([+-])(\d{2})(\d{2})$/s.exec(text ?? '')
  if (match === null) return undefined
  const [, name, email, seconds, sign, hours, minutes] = match
  const offset = Number(hours) * 60 + Number(minutes)
  return { name: name!, email: email!, atSeconds: Number(seconds), offsetMinutes: sign === '-' ? 0 - offset : offset }
}

function partsOf(bytes: Uint8Array): { headers: [string, string][]; message: Buffer } {
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = object.indexOf('\n\n')
  // Only the head is decoded: a substring of the whole text would keep the message in memory.
  const head = object.toString('utf8', 0, end === -1 ? undefined : end)
  const headers = head.split('\n').map((line): [string, string] => {
    const space = line.indexOf(' ')
    return [line.slice(0, space), line.slice(space + 1)]
  })
  return { headers, message: object.subarray(end === -1 ? object.length : end + 2) }
}
