import busboy from 'busboy'
import { MalformedForm } from './malformed-form.ts'
import { RequestProblem } from './request-problem.ts'
import { MAX_FORM_ENTRIES, utf8Text } from './urlencoded.ts'

/** A file in a form, held in memory. */
export interface UploadedFile {
  /** The last segment of the file name that the client sent; may be empty. */
  readonly fileName: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/** A file in a form, written to the disk. It is removed after the request has been answered, unless it was moved. */
export interface StoredFile extends Omit<UploadedFile, 'bytes'> {
  readonly path: string
  /** In bytes. */
  readonly size: number
}

const storedFiles = new WeakSet<object>()

/** Marks a value as a file that this process has written. */
export function storedFile(file: StoredFile): StoredFile {
  storedFiles.add(file)
  return file
}

/** Returns whether a value is an uploaded file, and not a form or JSON with the same members, in which the path could be that of any file. */
export const isStoredFile = (value: unknown): value is StoredFile =>
  typeof value === 'object' && value !== null && storedFiles.has(value)

export type FormEntry = readonly [name: string, value: string | UploadedFile | StoredFile]

const MAX_NAME_BYTES = 1_024
const MAX_HEADERS_OF_PART = 20

/**
 * Parses a multipart/form-data body and returns its parts in the order in which they were sent.
 *
 * @param contentType the Content-Type header, including its boundary
 * @throws MalformedForm; RequestProblem body_too_large for a file larger than `fileLimitBytes`
 */
export function multipartEntries(
  bytes: Uint8Array,
  contentType: string,
  fileLimitBytes: number,
): Promise<readonly FormEntry[]> {
  return new Promise((resolve, reject) => {
    const parser = multipartParser(contentType, { fileLimitBytes })
    const entries: FormEntry[] = []
    const malformed = (why: string) => reject(new MalformedForm(why))

    parser.on('field', (name: string | undefined, value: string | undefined, { nameTruncated }) => {
      if (nameTruncated) malformed('a name is too long')
      else if (name === undefined) malformed('a field has no name')
      else if (value === undefined) malformed('a field has an unknown character set')
      else entries.push([name, value])
    })
    parser.on('file', (name: string | undefined, stream, { filename, mimeType }) => {
      if (name === undefined) {
        stream.resume()
        return malformed('a file has no name')
      }
      const chunks: Uint8Array[] = []
      // Reserves the position now, because the file may end after later parts have begun.
      const at = entries.push([name, '']) - 1
      stream.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      stream.on('limit', () => reject(new RequestProblem({ kind: 'body_too_large', limitBytes: fileLimitBytes })))
      stream.on('error', () => malformed('a file ends too early'))
      stream.on('end', () => {
        entries[at] = [name, { fileName: filename ?? '', contentType: mimeType, bytes: Buffer.concat(chunks) }]
      })
    })
    parser.on('partsLimit', () => malformed('too many parts'))
    parser.on('error', () => malformed('not multipart/form-data'))
    parser.on('close', () => {
      try {
        resolve(entries.map(decodedEntry))
      } catch (error) {
        reject(error)
      }
    })
    parser.end(bytes)
  })
}

/** @throws MalformedForm without a boundary */
export function multipartParser(
  contentType: string,
  { fileLimitBytes, fieldLimitBytes = Number.POSITIVE_INFINITY }: { fileLimitBytes: number; fieldLimitBytes?: number },
): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      // Latin-1 keeps the bytes unchanged. With UTF-8, the parser would silently replace invalid sequences.
      defCharset: 'latin1',
      defParamCharset: 'latin1',
      limits: {
        fieldNameSize: MAX_NAME_BYTES,
        fieldSize: fieldLimitBytes,
        // One more than allowed, because the parser reports a limit when it is reached, not when it is exceeded.
        fileSize: fileLimitBytes + 1,
        parts: MAX_FORM_ENTRIES + 1,
        headerPairs: MAX_HEADERS_OF_PART,
      },
    })
  } catch {
    throw new MalformedForm('no boundary')
  }
}

function decodedEntry([name, value]: FormEntry): FormEntry {
  if (typeof value === 'string') return [fromLatin1(name), fromLatin1(value)]
  return [fromLatin1(name), { ...value, fileName: fromLatin1(value.fileName) }]
}

/**
 * Decodes the UTF-8 bytes of a Latin-1 string. If the part named another character set, the parser has already decoded
 * the text, which then contains characters above 255.
 */
export function fromLatin1(text: string): string {
  return /^[\0-\xff]*$/.test(text) ? utf8Text(Buffer.from(text, 'latin1')) : text
}
