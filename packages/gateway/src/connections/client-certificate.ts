import { normalCertificateName } from '../tokens/certificate-names.ts'

/**
 * Returns the names of a client certificate as `DNS:…`, `URI:…` or `email:…`. `subjectAltName` is Node's text
 * for its subject alternative names; `undefined` if it has none.
 */
export function certificateNames(subjectAltName: string | undefined): readonly string[] {
  return subjectAltName === undefined || subjectAltName === '' ? [] : subjectAltName.split(', ').map(nameOf)
}

/** Parses one name. Node writes a name with ambiguous characters, such as a comma, as a JSON string. */
function nameOf(entry: string): string {
  const valueAt = entry.indexOf(':') + 1
  const value = entry.slice(valueAt)
  const name = value.startsWith('"') ? entry.slice(0, valueAt) + (JSON.parse(value) as string) : entry
  return normalCertificateName(name)
}
