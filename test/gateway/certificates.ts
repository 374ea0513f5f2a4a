import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Certificate {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly keyFile: string
}

export interface Authority extends Certificate {
  /** Issues a certificate for localhost and 127.0.0.1, for servers and clients. */
  issue(name: string): Certificate
}

/** Creates certificates with openssl in a directory that is removed when the test ends. */
export function certificateAuthority(name = 'authority'): Authority {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-tls-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const at = (file: string) => join(directory, file)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' })
  const ecKey = (file: string) => openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file)
  const read = (stem: string): Certificate => ({
    cert: readFileSync(at(`${stem}.pem`), 'utf8'),
    key: readFileSync(at(`${stem}.key`), 'utf8'),
    certFile: at(`${stem}.pem`),
    keyFile: at(`${stem}.key`),
  })
  ecKey('ca.key')
  openssl('req', '-x509', '-new', '-key', 'ca.key', '-days', '36500', '-subj', `/CN=${name}`, '-out', 'ca.pem')
  return {
    ...read('ca'),
    issue: (subject) => {
      ecKey(`${subject}.key`)
      openssl('req', '-new', '-key', `${subject}.key`, '-subj', `/CN=${subject}`, '-out', `${subject}.csr`)
      writeFileSync(at('names.cnf'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
      const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '36500']
      openssl('x509', '-req', '-in', `${subject}.csr`, ...signing, '-extfile', 'names.cnf', '-out', `${subject}.pem`)
      return read(subject)
    },
  }
}
