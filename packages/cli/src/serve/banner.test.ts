import { expect, test } from 'vitest'
import { banner, type Started } from './banner.ts'

const started: Started = {
  consoleUrl: 'http://127.0.0.1:8081',
  signInCode: undefined,
  managementUrl: 'http://127.0.0.1:8081',
  commands: { store: 'npx penstock', console: 'npx penstock' },
  gatewayUrls: ['127.0.0.1:4318', '127.0.0.1:4317'],
  embedded: false,
  firstKey: undefined,
  samples: undefined,
  core: undefined,
}

test('prints the addresses and commands to try', () => {
  expect(banner(started)).toBe(`Console:  http://127.0.0.1:8081/
Sign in with an API key, or with a link of: npx penstock console link

Penstock takes OTLP on 127.0.0.1:4318 and 127.0.0.1:4317 (HTTP and gRPC on either).
Its API, metrics and health are on http://127.0.0.1:8081.

Try next:
  obs() { curl -sS -K <(printf 'header = "OBS-API-KEY: %s"' "$OBS_API_KEY") "$@"; }
  obs http://127.0.0.1:8081/api/v1/ingest_auth/state
  obs -d '{"name":"first"}' -H 'Content-Type: application/json' http://127.0.0.1:8081/api/v1/ingest_auth/tokens

No API key at hand? npx penstock api-key create --name me --role Admin

`)
})

test('begins with the console, and with a sign-in link if there is a code', () => {
  expect(
    banner({ ...started, signInCode: 'Qx7' })
      .split('\n')
      .slice(0, 3),
  ).toEqual([
    'Console:  http://127.0.0.1:8081/#code=Qx7',
    'The link signs one browser in, within ten minutes. Another one: npx penstock console link',
    '',
  ])
})

test('hints work for a service with another data directory and address', () => {
  const commands = { store: 'PENSTOCK_DATA_DIR=/srv npx penstock', console: 'PENSTOCK_OBS_LISTEN=x npx penstock' }
  const text = banner({ ...started, commands })
  expect(text).toContain('with a link of: PENSTOCK_OBS_LISTEN=x npx penstock console link\n')
  expect(text).toContain('No API key at hand? PENSTOCK_DATA_DIR=/srv npx penstock api-key create')
})

test('A-7: shows a new key once, and exports it in the commands to try', () => {
  const text = banner({ ...started, firstKey: 'psak_made', embedded: true })
  expect(text).toContain('Admin API key, shown only now:  psak_made\n')
  expect(text).toContain('\n  export OBS_API_KEY=psak_made\n')
  expect(text.match(/^ {2}obs http|^ {2}obs -d/gm)).toHaveLength(3)
  expect(text).not.toContain('-H "OBS-API-KEY')
  expect(text).toContain('embedded store, which is for trying things out')
})

test('with samples, describes them and prints three commands about them', () => {
  const core = { url: 'http://127.0.0.1:8080', rootToken: 'svcpat-made', hooks: [] }
  const samples = { sentence: 'Thirty pipelines are on their way.', project: 'mossgate/shop/storefront' }
  const text = banner({ ...started, firstKey: 'psak_made', embedded: true, core, samples })
  expect(text).toContain('\n\nThirty pipelines are on their way.\n')
  expect(text.split('Try next:\n')[1]).toBe(`  export OBS_API_KEY=psak_made
  export PRIVATE_TOKEN=svcpat-made
  obs() { curl -sS -K <(printf 'header = "OBS-API-KEY: %s"' "$OBS_API_KEY") "$@"; }
  api() { curl -sS -K <(printf 'header = "PRIVATE-TOKEN: %s"' "$PRIVATE_TOKEN") "http://127.0.0.1:8080/api/v4/$@"; }
  api projects/mossgate%2Fshop%2Fstorefront/pipelines
  obs http://127.0.0.1:8081/api/v1/observe/services
  obs -X PUT -d '{"enabled":true}' -H 'Content-Type: application/json' http://127.0.0.1:8081/api/v1/ingest_auth/state

`)
  const failed = banner({ ...started, core, samples: { sentence: 'It could not be made.', project: undefined } })
  expect(failed).toContain('It could not be made.\n')
  expect(failed).toContain('  api user\n')
})

test('with a core, prints its URLs and a new token', () => {
  const text = banner({ ...started, core: { url: 'http://127.0.0.1:8080', rootToken: 'svcpat-made', hooks: [] } })
  expect(text).toContain('The REST API is on http://127.0.0.1:8080/api/v4')
  expect(text).toContain(
    '\nGraphQL is on http://127.0.0.1:8080/api/graphql; http://127.0.0.1:8080/-/graphql-explorer in',
  )
  expect(text).toContain('shown only now:  svcpat-made\n')
  expect(text).toContain('http://127.0.0.1:8080/api/v4/$@"; }\n  api user\n')
})

test('prints the webhook URLs of at most ten sources', () => {
  const hooks = Array.from({ length: 12 }, (_, index) => `http://127.0.0.1:8080/hooks/pipelines/forge-${index}`)
  const text = banner({ ...started, core: { url: 'http://127.0.0.1:8080', rootToken: undefined, hooks } })
  expect(text).toContain('\nWebhooks of a source go to http://127.0.0.1:8080/hooks/pipelines/forge-0\n')
  expect(text).toContain('/hooks/pipelines/forge-9\n… and 2 more sources.\n')
})
