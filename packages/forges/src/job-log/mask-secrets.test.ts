import { describe, expect, test } from 'vitest'
import { JobLogReader } from './job-log.ts'
import { maskSecrets } from './mask-secrets.ts'

/** Texts that look like random ones. They are joined here, so that no scanner takes this file for a leak. */
const word = (length: number, alphabet = 'aZ7kQ2xLm9Rb4Tn0Vw8Ys3Cd6Gf1Hj5') =>
  Array.from({ length }, (_, at) => alphabet[(at * 11 + Math.floor(at / 7)) % alphabet.length]).join('')
const hex = (length: number) => word(length, '0f3a9c7b1e5d8264')
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Lines with a secret, and the secret. */
const planted: readonly (readonly [what: string, line: string, secret: string])[] = [
  ['GitLab personal token', `using glpat-${word(20)}`, word(20)],
  ['GitLab token with a routing part', `git clone glpat-${word(27)}.01.${word(9)}`, word(27)],
  ['GitLab deploy token', `login gldt-${word(20)} ok`, word(20)],
  ['GitLab runner token', `--registration glrt-${word(20)}`, word(20)],
  ['GitLab job token', `CI glcbt-64_${word(20)}`, word(20)],
  ['GitLab registration token', `GR1348941${word(20)}`, word(20)],
  ['GitLab header', `> PRIVATE-TOKEN: ${word(12)}`, word(12)],
  ['GitHub token', `fatal: ghp_${word(36)}`, word(36)],
  ['GitHub app token', `ghs_${word(36)}`, word(36)],
  ['GitHub fine-grained token', `github_pat_${word(22)}_${word(59)}`, word(22)],
  ['AWS access key', `AKIA${'QWERTZUIOP234567'} was used`, 'QWERTZUIOP234567'],
  ['AWS secret key', `AWS_SECRET_ACCESS_KEY=${word(20)}/K7MDENG+${word(10)}`, word(20)],
  ['AWS session token', `"SessionToken": "${word(90)}"`, word(90)],
  ['AWS presigned URL', `GET https://b.s3.amazonaws.com/k?X-Amz-Signature=${hex(64)}&x=1`, hex(64)],
  ['Slack bot token', `xoxb-123456789012-${word(24)}`, word(24)],
  ['Slack hook', `POST https://hooks.slack.com/services/T0AB/B0CD/${word(24)}`, word(24)],
  ['JSON Web Token', `eyJ${word(20)}.eyJ${word(40)}.${word(43)}`, word(40)],
  ['JSON Web Token without a signature', `eyJ${word(20)}.eyJ${word(40)}.`, word(40)],
  [
    'PEM private key on one line',
    `-----BEGIN RSA PRIVATE KEY-----\\n${word(64)}\\n-----END RSA PRIVATE KEY-----`,
    word(64),
  ],
  [
    'PEM private key',
    `-----BEGIN PRIVATE KEY-----\n${word(64)}\nshort+line==\n-----END PRIVATE KEY-----`,
    'short+line==',
  ],
  [
    'OpenSSH private key',
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${word(70)}\nAAAA\n-----END OPENSSH PRIVATE KEY-----`,
    word(70),
  ],
  [
    'PGP private key',
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQdGBF\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----`,
    'lQdGBF',
  ],
  ['age key', `AGE-SECRET-KEY-1${word(58).toUpperCase()}`, word(58).toUpperCase()],
  ['URL with a password', 'git push https://ada:correct-horse@git.example.com/a.git', 'correct-horse'],
  ['URL of a database', 'postgres://app:s3cr%40t@db:5432/app is unreachable', 's3cr%40t'],
  ['URL with a token as user', `https://${word(20)}@git.example.com/a.git`, word(20)],
  ['parameter of a URL', `GET /hook?token=${word(8)}&page=2`, word(8)],
  ['Authorization: Bearer', `Authorization: Bearer ${word(10)}`, word(10)],
  ['Authorization: Basic', `-H "Authorization: Basic ${base64('ada:horse')}"`, base64('ada:horse')],
  ['Bearer in an error', `error: bearer ${word(14)} has expired`, word(14)],
  ['Cookie', `Set-Cookie: session=${word(9)}; HttpOnly`, word(9)],
  ['API key header', `x-api-key: ${word(9)}`, word(9)],
  ['password in JSON', '{"user":"ada","password":"correct horse battery"}', 'horse'],
  ['password in YAML', "  db_password: 'tr0ub4dor'", 'tr0ub4dor'],
  ['exported variable', 'export DEPLOY_SECRET=battery-staple', 'battery-staple'],
  ['flag', 'helm --password battery-staple upgrade', 'battery-staple'],
  ['curl -u', 'curl -u ada:battery-staple https://example.com', 'battery-staple'],
  ['docker login -p', 'docker login -u ada -p battery-staple registry.example.com', 'battery-staple'],
  ['.netrc', 'machine example.com login ada password battery-staple', 'battery-staple'],
  ['password in XML', '<server><password>tr0ub4dor</password></server>', 'tr0ub4dor'],
  ['password in SQL', "ALTER USER app WITH PASSWORD 'tr0ub4dor'", 'tr0ub4dor'],
  ['login in the configuration of Docker', `{"auths":{"r":{"auth":"${base64('ada:horse')}"}}}`, base64('ada:horse')],
  ['variable of MySQL', 'MYSQL_PWD=tr0ub4dor', 'tr0ub4dor'],
  ['password with punctuation', 'password=tr0ub,4d;or', '4d;or'],
  ['connection string', 'Server=db;User=app;Password=tr0ub4dor;', 'tr0ub4dor'],
  ['npm token', `//npm.example.com/:_authToken=npm_${word(36)}`, word(36)],
  ['PyPI token', `pypi-AgEIcHlwaS5vcmc${word(60)}`, word(60)],
  ['Google API key', `AIza${word(35)}`, word(35)],
  ['Google access token', `ya29.${word(40)}`, word(40)],
  ['Stripe key', `sk_live_${word(24)}`, word(24)],
  ['SendGrid key', `SG.${word(22)}.${word(43)}`, word(43)],
  ['Vault token', `hvs.${word(24)}`, word(24)],
  ['Docker token', `dckr_pat_${word(27)}`, word(27)],
  ['Azure account key', `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${word(86)}==;`, word(86)],
  ['Penstock ingest token', `psin_${word(43)}`, word(43)],
  ['random word', `value ${word(40)} was refused`, word(40)],
  ['random base64 with slashes', `got ${word(18)}/${word(19)}+${word(21)}=`, word(21)],
  ['hexadecimal key', `key ${hex(64)}`, hex(64)],
]

test('more than 40 forms are planted', () => expect(planted.length).toBeGreaterThan(40))

describe.each([
  ['plain', (line: string) => line],
  [
    'in colour',
    (line: string) => line.replace(/\S+/g, (text) => `\u001b[31m${text.slice(0, 5)}\u001b[0m${text.slice(5)}`),
  ],
  ['at the end of a long line', (line: string) => `${'filler '.repeat(400)}${line}`],
])('%s', (_, show) => {
  test.each(planted)('%s', (_what, line, secret) => {
    const reader = new JobLogReader()
    reader.add(Buffer.from(`section_start:1770091510:s\r\u001b[0K${show(line)}\n${show(line)}\nerror: it failed\n`))
    const { failure, sections } = reader.end()
    expect(failure?.lines).toContain('error: it failed')
    expect(failure?.lines).not.toContain(secret)
    expect(sections[0]?.section?.title ?? '').not.toContain(secret)
  })
})

test('is done in the names of sections', () => {
  const reader = new JobLogReader()
  reader.add(Buffer.from(`section_start:1770091510:glpat-${word(20)}\r\u001b[0K\n`))
  expect(reader.end().sections[0]?.name).toBe('[MASKED]')
})

test.each([
  'using [MASKED] and ***',
  'commit 4be1c1d9c9a3e5f70b1d2c3e4f5061728394a5b6',
  'node@sha256:8f3e1c0b7a5d49e2a6cbb1f0d2c4e6a8b0c2d4e6f8091a3b5c7d9e1f20415263',
  'job 0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9 failed',
  'Running on runner-kq3xlm7ab-project-17-concurrent-0 via docker-small-3...',
  '/builds/orchard/press/node_modules/.pnpm/vite@8.0.1/node_modules/vite/dist/index2.js:41:7',
  'src/components/UserProfileSettings/PasswordFieldContainer.test.tsx',
  'x86_64-unknown-linux-gnu-toolchain-1.92.0-nightly',
  'AbstractSingletonProxyFactoryBeanConfigurationException: cannot instantiate',
  'pq: password authentication failed for user "app"',
  'see https://docs.example.com/ci/jobs/job_troubleshooting.html#error-2',
  'password: null',
])('keeps %j', (line) => expect(maskSecrets(line)).toBe(line))

test('is done in time that grows with the length of a line', () => {
  const lines = [
    'a',
    '-----BEGIN ',
    'token',
    'https://',
    'login ',
    'eyJ',
    'a:',
    'aB3',
    '-u ',
    '--password ',
    '\u001b[',
    'authorization: ',
  ]
  for (const part of lines) maskSecrets(part.repeat(16_384 / part.length))
  expect(maskSecrets('token'.repeat(3_000)).length).toBeGreaterThan(10_000)
})
