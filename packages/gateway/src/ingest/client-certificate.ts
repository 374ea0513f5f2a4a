import { normalCertificateName } from '../tokens/certificate-names.ts'

/**
 * The names of a client's certificate as `DNS:…`, `URI:…`, `email:…`, from what Node tells of its subject
 * alternative names: one text, `undefined` when there are none.
 */
export function certificateNames(subjectAltName: string | undefined): readonly string[] {
  return subjectAltName === undefined || subjectAltName === '' ? [] : subjectAltName.split(', ').map(nameOf)
}

/** A name with characters that could mislead is a JSON string, in which Node escapes even the comma. */
function nameOf(entry: string): string {
  const valueAt = entry.indexOf(':') + 1
  const value = entry.slice(valueAt)
  const name = value.startsWith('"') ? entry.slice(0, valueAt) + (JSON.parse(value) as string) : entry
  return normalCertificateName(name)
}
